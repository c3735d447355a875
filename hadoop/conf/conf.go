// Package conf reads Hadoop's configuration files, for HDFS and for YARN. It does not know what
// the properties mean.
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

// confFiles are the files that Load reads. Later files override earlier ones.
var confFiles = []string{"core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml"}

// maxExpansions bounds the number of expansion rounds of a value, as in Hadoop, because a
// property may refer to itself.
const maxExpansions = 20

// maxValue bounds the length of an expanded value: a property that refers to itself twice
// would double in each of the twenty rounds.
const maxValue = 1 << 16

// Load reads core-site.xml, hdfs-site.xml, mapred-site.xml and yarn-site.xml from a directory,
// and expands ${name} in their values. A name is that of another property, or of an
// environment variable: ${env.NAME}, ${env.NAME-default} or ${env.NAME:-default}. References
// to unknown names stay as they are. Missing files are skipped, but a directory without any of
// them is an fs.ErrNotExist. Load does not follow includes.
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

// parseXML returns the properties of one file.
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

// reference matches a ${name} without a nested reference.
var reference = regexp.MustCompile(`\$\{[^${}\s]+\}`)

// expand expands the references in a value. In ${a.${b}}, it expands the inner reference
// first.
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

// lookup returns the value of the name in a reference.
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
