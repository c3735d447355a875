// Package api checks that no change breaks what other modules import, unless CHANGELOG.md says so.
package api

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

const root = "../../.."

var update = flag.Bool("update", false, "write api.txt, for a release")

// TestAPI compares the exported names of all packages that can be imported with api.txt, which has
// those of the last release, or of the day when the file was begun: each line that is missing now must have its name, as in
// `table.Table.Lookup`, or that of its type, in the part Unreleased of CHANGELOG.md.
func TestAPI(t *testing.T) {
	lines := listing(t)
	if *update {
		must.OK(t, os.WriteFile("api.txt", []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	}
	before := must.Get(os.ReadFile("api.txt"))(t)
	changes := must.Get(os.ReadFile(filepath.Join(root, "CHANGELOG.md")))(t)
	for _, fault := range breaks(strings.Split(strings.TrimSpace(string(before)), "\n"), lines, string(changes)) {
		t.Error(fault)
	}
}

// breaks returns a line for each line of before that is not in now, unless its name or that of its
// type is in the part Unreleased of changes.
func breaks(before, now []string, changes string) (faults []string) {
	_, unreleased, _ := strings.Cut(changes, "\n## Unreleased\n")
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	for _, line := range before {
		name, _, _ := strings.Cut(line, " ")
		of := name // for a method or a field, the name of its type
		if strings.Count(path.Base(name), ".") == 2 {
			of = name[:strings.LastIndex(name, ".")]
		}
		if !slices.Contains(now, line) && !strings.Contains(unreleased, "`"+name+"`") && !strings.Contains(unreleased, "`"+of+"`") {
			faults = append(faults, fmt.Sprintf("%s has gone or changed: restore it, or say so in CHANGELOG.md, with `%s`", line, name))
		}
	}
	return faults
}

// TestBreaks checks breaks on a function that has another parameter now, and a field that has gone.
func TestBreaks(t *testing.T) {
	before, now := []string{"p.F func(int)", "p.T struct", "p.T.F int"}, []string{"p.F func(string)", "p.G func()", "p.T struct"}
	for changes, want := range map[string]int{
		"# Changes\n\n## Unreleased\n\n- `p`: nothing.\n":              2,
		"# Changes\n\n## Unreleased\n\n- `p.F` takes a text; `p.T`.\n": 0,
		"# Changes\n\n## Unreleased\n\n## v1\n\n- `p.F` is new.\n\n":   2,
	} {
		if got := breaks(before, now, changes); len(got) != want {
			t.Errorf("%q: %q, want %d", changes, got, want)
		}
	}
}

// listing returns a line for each exported name: its package and name, then its declaration.
func listing(t *testing.T) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "internal" || name == "testdata" || name == "cmd" || name == "build" || name != ".." && strings.HasPrefix(name, ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil || f.Name.Name == "main" || !ast.FileExports(f) {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		l := lister{files: files, dir: filepath.ToSlash(dir)}
		for _, d := range f.Decls {
			l.declaration(d)
		}
		lines = append(lines, l.lines...)
		return err
	})
	must.OK(t, err)
	slices.Sort(lines)
	return lines
}

// A lister lists the declarations of a file.
type lister struct {
	files *token.FileSet
	dir   string
	lines []string
}

// add adds a line: a name, and nodes as Go source on one line.
func (l *lister) add(name string, nodes ...any) {
	line := l.dir + "." + name
	for _, n := range nodes {
		if text, ok := n.(string); ok {
			line += " " + text
			continue
		}
		var b bytes.Buffer
		printer.Fprint(&b, l.files, n) // a bytes.Buffer takes every write
		line += " " + strings.Join(strings.Fields(b.String()), " ")
	}
	l.lines = append(l.lines, line)
}

func (l *lister) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			switch generic := receiver.(type) {
			case *ast.IndexExpr:
				receiver = generic.X
			case *ast.IndexListExpr:
				receiver = generic.X
			}
			of, ok := receiver.(*ast.Ident)
			if !ok || !of.IsExported() {
				return
			}
			name = of.Name + "." + name
		}
		l.add(name, d.Type)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				l.typeOf(s)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if s.Type != nil {
						l.add(name.Name, d.Tok.String(), s.Type)
					} else {
						l.add(name.Name, d.Tok.String())
					}
				}
			}
		}
	}
}

// typeOf lists a type, and the fields of a struct or the methods of an interface; not those of a type
// for which it is another name.
func (l *lister) typeOf(s *ast.TypeSpec) {
	var members *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		l.add(s.Name.Name, "struct")
		members = t.Fields
	case *ast.InterfaceType:
		l.add(s.Name.Name, "interface")
		members = t.Methods
	default:
		if s.Assign.IsValid() {
			l.add(s.Name.Name, "=", s.Type)
		} else {
			l.add(s.Name.Name, s.Type)
		}
		return
	}
	for _, m := range members.List {
		m.Doc, m.Comment = nil, nil
		if len(m.Names) == 0 {
			l.add(s.Name.Name, "embeds", m.Type)
		}
		for _, name := range m.Names {
			l.add(s.Name.Name+"."+name.Name, m.Type)
		}
	}
}
