// Package conf reads Hadoop's configuration, for HDFS and for YARN.
package conf

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// confFiles are the files that Load reads; later ones win.
var confFiles = []string{"core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml"}

// maxExpansions bounds the ${…} of one value, as in Hadoop: a property may name
// itself.
const maxExpansions = 20

// maxValue bounds the length of a value with its ${…} put in: one that names
// itself twice would double twenty times.
const maxValue = 1 << 16

// Load reads core-site.xml, hdfs-site.xml, mapred-site.xml and yarn-site.xml of a
// directory, and puts in what ${name} stands for: another property, or a variable of the
// environment as ${env.NAME}, ${env.NAME-default} or ${env.NAME:-default}. What
// is not known stays as it is. A file that is not there is passed over; a
// directory without any is an fs.ErrNotExist. Includes are not followed.
func Load(dir string) (map[string]string, error) {
	raw := make(map[string]string)
	found := false
	for _, name := range confFiles {
		file, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		properties, err := parseXML(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		maps.Copy(raw, properties)
		found = true
	}
	if !found {
		return nil, fmt.Errorf("%s: no %s: %w", dir, strings.Join(confFiles, ", "), fs.ErrNotExist)
	}
	conf := make(map[string]string, len(raw))
	for name, value := range raw {
		conf[name] = expand(raw, value)
	}
	return conf, nil
}

// parseXML reads the properties of one file.
func parseXML(r io.Reader) (map[string]string, error) {
	var file struct {
		Property []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.NewDecoder(r).Decode(&file); err != nil {
		return nil, err
	}
	properties := make(map[string]string)
	for _, p := range file.Property {
		if name := strings.TrimSpace(p.Name); name != "" {
			properties[name] = p.Value
		}
	}
	return properties, nil
}

// reference is a ${name} with none inside it.
var reference = regexp.MustCompile(`\$\{[^${}\s]+\}`)

// expand puts in what the ${…} of a value stand for. An inner one comes before
// the one around it: ${a.${b}}.
func expand(conf map[string]string, value string) string {
	for range maxExpansions {
		expanded := reference.ReplaceAllStringFunc(value, func(ref string) string {
			if text, known := lookup(conf, ref[2:len(ref)-1]); known {
				return text
			}
			return ref
		})
		if expanded == value || len(expanded) > maxValue {
			break
		}
		value = expanded
	}
	return value
}

// lookup finds what the name in a ${…} stands for.
func lookup(conf map[string]string, name string) (value string, known bool) {
	variable, ok := strings.CutPrefix(name, "env.")
	if !ok {
		value, known = conf[name]
		return value, known
	}
	variable, other, hasOther := strings.Cut(variable, "-")
	variable, orEmpty := strings.CutSuffix(variable, ":")
	value, known = os.LookupEnv(variable)
	if hasOther && (!known || orEmpty && value == "") {
		return other, true
	}
	return value, known
}
