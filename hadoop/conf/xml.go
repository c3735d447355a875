package conf

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// maxIncludes bounds how deeply files include others, because a file may include itself.
const maxIncludes = 20

// properties are those of all files that were read. A final one cannot be replaced.
type properties struct {
	values map[string]string
	final  map[string]bool
}

// set sets a property; a nil value only makes it final.
func (p *properties) set(name string, value *string, final bool) {
	if current, ok := deprecated[name]; ok {
		name = current
	}
	if value != nil && !p.final[name] {
		p.values[name] = *value
	}
	if final {
		p.final[name] = true
	}
}

// load reads a file, which files in dir have included depth times.
func (p *properties) load(dir, name string, depth int) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if depth > maxIncludes {
		return fmt.Errorf("%s: included files are nested more than %d deep", name, maxIncludes)
	}
	err = p.parse(text, func(href string) (found bool, err error) {
		file, err := included(dir, href)
		if err == nil {
			err = p.load(dir, file, depth+1)
		}
		if place := new(fs.PathError); errors.As(err, &place) && place.Path == file && errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
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

// A parser follows Hadoop's: it looks only at the local names of elements, not at where they are.
type parser struct {
	properties *properties
	include    func(href string) (found bool, err error)

	token       strings.Builder // the text since the last start of a name, value or final
	name, value *string
	final       bool
	missing     string // the included file that does not exist
	fallback    bool   // there was a fallback
}

// parse adds the properties in the text of a file.
func (p *properties) parse(text []byte, include func(href string) (found bool, err error)) error {
	if bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.HasPrefix(text, []byte("\xff\xfe")) {
		return errEncoding("UTF-16")
	}
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	decoder.CharsetReader = charset
	x := &parser{properties: p, include: include}
	depth, roots := 0, 0
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.Directive:
			decoder.Entity, err = entities(string(token))
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			err = x.start(token)
		case xml.CharData:
			x.token.Write(token)
		case xml.EndElement:
			depth--
			err = x.end(token.Name.Local)
		}
		if err != nil {
			return err
		}
	}
	if roots != 1 {
		return fmt.Errorf("expected one element, found %d", roots)
	}
	return nil
}

// attributeBlanks replaces the white space that is a blank in the value of an attribute.
var attributeBlanks = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

func (x *parser) start(e xml.StartElement) (err error) {
	switch e.Name.Local {
	case "property":
		x.name, x.value, x.final = nil, nil, false
		for _, a := range e.Attr {
			text := attributeBlanks.Replace(a.Value)
			switch a.Name.Local {
			case "name":
				x.name = &text
			case "value":
				x.value = &text
			case "final":
				x.final = text == "true"
			}
		}
	case "name", "value", "final", "source", "tag":
		x.token.Reset()
	case "include":
		for _, a := range e.Attr {
			if a.Name.Local != "href" {
				continue
			}
			found, err := x.include(a.Value)
			if err != nil {
				return err
			}
			if !found {
				x.missing = a.Value
			}
		}
	case "fallback":
		x.fallback = true
	}
	return nil
}

func (x *parser) end(element string) error {
	text := x.token.String()
	switch element {
	case "name":
		if name := strings.TrimFunc(text, isBlank); text != "" {
			x.name = &name
		}
	case "value":
		if text != "" {
			x.value = &text
		}
	case "final":
		x.final = text == "true"
	case "include":
		if x.missing != "" && !x.fallback {
			return fmt.Errorf("the included file %s does not exist, and there is no fallback", x.missing)
		}
		x.missing, x.fallback = "", false
	case "property":
		if x.name != nil && (x.missing != "" || !x.fallback) {
			x.properties.set(*x.name, x.value, x.final)
		}
	}
	return nil
}

// isBlank reports whether Java's trim removes a character.
func isBlank(c rune) bool { return c <= ' ' }

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
	case "ISO-8859-1":
		return &latin1{from: bufio.NewReader(in)}, nil
	}
	return nil, errEncoding(label)
}

// latin1 converts ISO-8859-1, whose bytes are the numbers of the characters.
type latin1 struct {
	from *bufio.Reader
	rest []byte
}

func (l *latin1) Read(b []byte) (int, error) {
	if len(l.rest) == 0 {
		c, err := l.from.ReadByte()
		if err != nil {
			return 0, err
		}
		l.rest = []byte(string(rune(c)))
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

var (
	doctype        = regexp.MustCompile(`(?s)^DOCTYPE\s+[^\s\[]+\s*(?:\[(.*)\]\s*)?$`)
	declaration    = regexp.MustCompile(`(?s)<!.*?>|%[^;\s]+;`)
	entity         = regexp.MustCompile(`(?s)^<!ENTITY\s+([^\s%"']+)\s+(?:"([^"]*)"|'([^']*)')\s*>$`)
	entityOrNumber = regexp.MustCompile(`&([^;&\s]*);`)
)

// entities returns the entities of a DOCTYPE. It supports those that are text.
func entities(directive string) (map[string]string, error) {
	m := doctype.FindStringSubmatch(directive)
	if m == nil {
		return nil, fmt.Errorf("<!%s>: external document types are not supported", directive)
	}
	literal := make(map[string]string)
	for _, d := range declaration.FindAllString(m[1], -1) {
		e := entity.FindStringSubmatch(d)
		if e == nil && !strings.HasPrefix(d, "<!ENTITY") && !strings.HasPrefix(d, "%") {
			continue // of an element, or a list of attributes
		}
		if e == nil || strings.ContainsAny(e[2]+e[3], "<%") {
			return nil, fmt.Errorf("%s: only entities that are text are supported", d)
		}
		if _, twice := literal[e[1]]; !twice {
			literal[e[1]] = replaceNumbers(e[2] + e[3])
		}
	}
	full := make(map[string]string)
	for name, text := range literal {
		for range maxExpansions {
			text = entityOrNumber.ReplaceAllStringFunc(text, func(ref string) string {
				if other, ok := literal[ref[1:len(ref)-1]]; ok {
					return other
				}
				return ref
			})
			if len(text) > maxValue {
				return nil, fmt.Errorf("entity %s: more than %d bytes", name, maxValue)
			}
		}
		full[name] = predefined.Replace(replaceNumbers(text))
	}
	return full, nil
}

// predefined are the entities that every document has.
var predefined = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// replaceNumbers replaces &#65; and &#x41; by the characters.
func replaceNumbers(text string) string {
	return entityOrNumber.ReplaceAllStringFunc(text, func(ref string) string {
		var c rune
		if _, err := fmt.Sscanf(ref, "&#x%x;", &c); err == nil {
			return string(c)
		}
		if _, err := fmt.Sscanf(ref, "&#%d;", &c); err == nil {
			return string(c)
		}
		return ref
	})
}
