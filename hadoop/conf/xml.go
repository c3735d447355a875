package conf

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxIncludes bounds how deeply files include others, because a file may include itself.
const maxIncludes = 20

// properties are those of all files that were read. A final one cannot be replaced.
type properties struct {
	dir    string // of the configuration
	values map[string]string
	final  map[string]bool
}

// load reads a file, which other files have included depth times.
func (p *properties) load(name string, depth int) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	root, err := parse(text)
	if err == nil {
		err = p.add(root, depth)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// An element is an element of a file. As in Hadoop, only its local name counts.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Elements []element  `xml:",any"`
}

// parse returns the only element of a text.
func parse(text []byte) (root *element, err error) {
	if bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.HasPrefix(text, []byte("\xff\xfe")) {
		return nil, errEncoding("UTF-16")
	}
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	decoder.CharsetReader = charset
	for {
		token, err := decoder.Token()
		if err == io.EOF && root != nil {
			return root, nil
		}
		switch token := token.(type) {
		case xml.Directive:
			if strings.Contains(string(token), "ENTITY") || strings.ContainsAny(string(token), `"'`) {
				err = fmt.Errorf("<!%s>: entities and external document types are not supported: write their texts into the file", token)
			}
		case xml.StartElement:
			if root != nil {
				return nil, fmt.Errorf("expected one element, found <%s> after it", token.Name.Local)
			}
			root = new(element)
			err = decoder.DecodeElement(root, &token)
		}
		if err != nil {
			return nil, err
		}
	}
}

// attributeBlanks replaces the white space that is a blank in the value of an attribute.
var attributeBlanks = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// fields returns the attributes and the elements of e by name: an element replaces an attribute, if it is not empty.
func (e *element) fields() (map[string]string, error) {
	fields := make(map[string]string)
	for _, a := range e.Attrs {
		fields[a.Name.Local] = attributeBlanks.Replace(a.Value)
	}
	for _, f := range e.Elements {
		if len(f.Elements) > 0 {
			return nil, fmt.Errorf("an element in <%s> is not supported", f.XMLName.Local)
		}
		switch {
		case f.Text == "":
		case f.XMLName.Local == "name":
			fields["name"] = strings.TrimFunc(f.Text, func(c rune) bool { return c <= ' ' }) // as Java's trim does
		default:
			fields[f.XMLName.Local] = f.Text
		}
	}
	return fields, nil
}

// add adds the properties in an element.
func (p *properties) add(e *element, depth int) error {
	elements := e.Elements
	switch e.XMLName.Local {
	case "property":
		fields, err := e.fields()
		if err == nil {
			p.set(fields)
		}
		return err
	case "include":
		fallback, err := p.include(e, depth+1)
		if fallback == nil || err != nil {
			return err
		}
		elements = fallback.Elements
	}
	for i := range elements {
		if err := p.add(&elements[i], depth); err != nil {
			return err
		}
	}
	return nil
}

// set sets a property. Without a value, it only makes it final.
func (p *properties) set(fields map[string]string) {
	name, ok := fields["name"]
	if !ok {
		return
	}
	if current, ok := deprecated[name]; ok {
		name = current
	}
	if value, ok := fields["value"]; ok && !p.final[name] {
		p.values[name] = value
	}
	if fields["final"] == "true" {
		p.final[name] = true
	}
}

// include reads an included file. If it does not exist, include returns the fallback.
func (p *properties) include(e *element, depth int) (fallback *element, err error) {
	href := ""
	for _, a := range e.Attrs {
		if a.Name.Local == "href" {
			href = a.Value
		}
	}
	if href == "" {
		return nil, nil
	}
	if depth > maxIncludes {
		return nil, fmt.Errorf("included files are nested more than %d deep", maxIncludes)
	}
	file, err := included(p.dir, href)
	if err == nil {
		err = p.load(file, depth)
	}
	if place := new(fs.PathError); !errors.As(err, &place) || place.Path != file || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for i, f := range e.Elements {
		if f.XMLName.Local == "fallback" {
			return &e.Elements[i], nil
		}
	}
	return nil, fmt.Errorf("the included file %s does not exist, and there is no fallback", href)
}

// included returns the name of an included file. A relative name is one in the directory of the
// configuration, also in a file that is included from another one.
func included(dir, href string) (string, error) {
	if scheme, path, ok := strings.Cut(href, ":"); ok && scheme == "file" {
		return "/" + strings.TrimLeft(path, "/"), nil
	} else if ok {
		return "", fmt.Errorf("include of %s: only files are supported", href)
	}
	if filepath.IsAbs(href) {
		return href, nil
	}
	return filepath.Join(dir, href), nil
}

// errEncoding is the error of a file that is neither UTF-8 nor ISO-8859-1.
type errEncoding string

func (e errEncoding) Error() string {
	return fmt.Sprintf("the encoding %s is not supported: convert the file to UTF-8", string(e))
}

// charset returns a reader that converts an encoding to UTF-8.
func charset(label string, in io.Reader) (io.Reader, error) {
	switch strings.ToUpper(label) {
	case "US-ASCII":
		return in, nil
	case "ISO-8859-1": // its bytes are the numbers of the characters
		text, err := io.ReadAll(in)
		var converted strings.Builder
		for _, b := range text {
			converted.WriteRune(rune(b))
		}
		return strings.NewReader(converted.String()), err
	}
	return nil, errEncoding(label)
}
