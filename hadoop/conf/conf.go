// Package conf reads Hadoop's configuration files, for HDFS and for YARN. It does not know what
// the properties mean.
package conf

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
)

// confFiles are the files that Load reads. Later files override earlier ones.
var confFiles = []string{"core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml"}

// maxExpansions bounds the number of references that are expanded in a value, as in Hadoop, because a
// property may refer to itself.
const maxExpansions = 20

// deprecated maps old names of properties, of those that the project reads, to the new ones. As in
// Hadoop, the value of an old name replaces that of the new one.
var deprecated = map[string]string{
	"fs.default.name":             "fs.defaultFS",
	"dfs.umaskmode":               "fs.permissions.umask-mode",
	"dfs.socket.timeout":          "dfs.client.socket-timeout",
	"dfs.federation.nameservices": "dfs.nameservices",
}

// Load reads core-site.xml, hdfs-site.xml, mapred-site.xml and yarn-site.xml from a directory, as
// Hadoop's class Configuration does, with final properties. It expands ${name} in their values. A name is that of
// another property, of Java's user.name, user.home or java.io.tmpdir, or of an environment variable: ${env.NAME},
// ${env.NAME-default} or ${env.NAME:-default}. References to unknown names stay as they are. Missing files are skipped, but a
// directory without any of them is an fs.ErrNotExist. What Load does not support, such as included files,
// entities and other encodings than UTF-8, is an error that names the file.
func Load(dir string) (map[string]string, error) {
	raw, final := make(map[string]string), make(map[string]bool)
	found := false
	for _, name := range confFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = add(raw, final, text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
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

// A property is a property in a file.
type property struct {
	Name  *string `xml:"name"`
	Value string  `xml:"value"`
	Final string  `xml:"final"`
}

// An element is an element that Load does not know.
type element struct{ XMLName xml.Name }

// add adds the properties in the text of a file. One without a value only becomes final.
func add(values map[string]string, final map[string]bool, text []byte) error {
	var file struct {
		XMLName    xml.Name   `xml:"configuration"`
		Properties []property `xml:"property"`
		Other      *element   `xml:",any"`
	}
	if err := xml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &file); err != nil {
		return err
	}
	if file.Other != nil {
		return fmt.Errorf("<%s> is not supported: write the properties into the file", file.Other.XMLName.Local)
	}
	for _, p := range file.Properties {
		if p.Name == nil {
			return errors.New("a property has no element <name>")
		}
		name := strings.TrimSpace(*p.Name)
		if current, ok := deprecated[name]; ok {
			name = current
		}
		if p.Value != "" && !final[name] {
			values[name] = p.Value
		}
		if p.Final == "true" {
			final[name] = true
		}
	}
	return nil
}

// reference matches a ${name} without a nested reference.
var reference = regexp.MustCompile(`\$\{[^$} ]+\}`)

// expand expands the references in a value, from left to right until the first unknown one. In
// ${a.${b}}, it expands the inner reference first. A value whose references do not end is not expanded.
func expand(conf map[string]string, value string) string {
	expanded := value
	for range maxExpansions {
		at := reference.FindStringIndex(expanded)
		if at == nil {
			return expanded
		}
		ref := expanded[at[0]:at[1]]
		text, known := lookup(conf, ref[2:len(ref)-1])
		if !known {
			return expanded
		}
		if strings.Contains(text, ref) {
			return value
		}
		expanded = expanded[:at[0]] + text + expanded[at[1]:]
	}
	return value
}

// lookup returns the value of the name in a reference.
func lookup(conf map[string]string, name string) (value string, known bool) {
	switch name {
	case "user.name", "user.home":
		if u, err := user.Current(); err == nil && name == "user.name" {
			return u.Username, true
		} else if err == nil {
			return u.HomeDir, true
		}
	case "java.io.tmpdir":
		return "/tmp", true
	}
	if variable, ok := strings.CutPrefix(name, "env."); ok && variable != "" {
		variable, other, hasOther := strings.Cut(variable, "-")
		orEmpty := false
		if hasOther {
			variable, orEmpty = strings.CutSuffix(variable, ":")
		}
		value, known = os.LookupEnv(variable)
		if hasOther && (!known || orEmpty && value == "") {
			return other, true
		}
		if known {
			return value, true
		}
	}
	if current, ok := deprecated[name]; ok {
		name = current
	}
	value, known = conf[name]
	return value, known
}
