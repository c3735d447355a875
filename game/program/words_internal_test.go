package program

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

func TestWords(t *testing.T) {
	for _, test := range []struct {
		command string
		windows bool
		want    []string // nil: not of plain words
	}{
		{command: "", want: []string{}},
		{command: " \t ", want: []string{}},
		{command: "sh  a.sh\tnormal ", want: []string{"sh", "a.sh", "normal"}},
		{command: `sh 'my dir/a "x".sh'  "it's"x '' X='$A'`, want: []string{"sh", `my dir/a "x".sh`, "it'sx", "", "X=$A"}},
		{command: `sh my\ dir/a.sh`}, {command: `sh "$NAME"`}, {command: "sh ~/a.sh"}, {command: "sh a;true"}, {command: "sh a\ntrue"},
		{command: "sh <a.sh"}, {command: "sh `a`"}, {command: "sh *.sh"}, {command: "'open"}, {command: "sh {a,b}"}, {command: "sh a # b"},
		{command: `"C:\my tools\ten.exe" -x C:\a\b.txt it's`, windows: true, want: []string{`C:\my tools\ten.exe`, "-x", `C:\a\b.txt`, "it's"}},
		{command: `a & b`, windows: true}, {command: `%A%`, windows: true},
	} {
		found, ok := wordsOf(test.command, test.windows)
		if ok != (test.want != nil) || !slices.Equal(found, test.want) {
			t.Errorf("%s: %q %t, want %q", test.command, found, ok, test.want)
		}
	}
}

// TestLine reads commands here and in a task of a cluster, which has the files in its working directory: they are the same.
func TestLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for sh")
	}
	here, task := t.TempDir(), t.TempDir()
	for _, name := range []string{"x.py", "my dir/y z.py", "sub/deep/x.py", "sub/it's.py", "lib.zip", "classes/J.class", "venv/pyvenv.cfg", "venv/bin/python"} {
		must.OK(t, os.MkdirAll(filepath.Join(here, filepath.Dir(name)), 0o777))
		must.OK(t, os.WriteFile(filepath.Join(here, name), nil, 0o666))
		must.OK(t, os.WriteFile(filepath.Join(task, filepath.Base(name)), nil, 0o666))
	}
	for _, test := range []struct{ command, files, identity, there string }{
		{"python3 x.py", "x.py", "python3 x.py", "python3 ./x.py"},
		{"/usr/bin/python3 ./x.py  a", "x.py", "python3 x.py a", "/usr/bin/python3 ./x.py a"},
		{`python3 "my dir/y z.py"`, "my dir/y z.py", `python3 "y z.py"`, "python3 './y z.py'"},
		{"venv/bin/python x.py", "x.py", "python x.py", "python ./x.py"},
		{here + "/venv/bin/python " + here + "/x.py", here + "/x.py", "python x.py", here + "/venv/bin/python ./x.py"},
		{`python3 "sub/it's.py"`, "sub/it's.py", `python3 "it's.py"`, `python3 "./it's.py"`},
		{"cd sub; python3 x.py", "", `"cd sub; python3 x.py"`, "cd sub; python3 x.py"},
		{"PYTHONPATH=/no/such:lib.zip:'my dir' python3 x.py", "lib.zip x.py", `"PYTHONPATH=such:lib.zip:my dir" python3 x.py`,
			"PYTHONPATH='/no/such:./lib.zip:my dir' python3 ./x.py"},
		{"X='my dir/y z.py' cat", "my dir/y z.py", `"X=y z.py" cat`, "X='./y z.py' cat"},
		{"java -cp sub/../classes J", "", "java -cp classes J", "java -cp classes J"},
		{"ten --start=X./O. 3/5 'a;b' ';'", "", `ten --start=X./O. 3/5 "a;b" ";"`, "ten --start=X./O. 3/5 'a;b' ';'"},
		{"sh sub", "", "sh sub", "sh sub"},
		{"", "", "", ""},
	} {
		t.Chdir(here)
		l := lineOf(test.command)
		if found := strings.Join(l.files, " "); found != test.files {
			t.Errorf("%s: files %q, want %q", test.command, found, test.files)
		}
		if found := l.identity; found != test.identity {
			t.Errorf("%s: identity %q, want %q", test.command, found, test.identity)
		}
		there := l.there
		if there != test.there {
			t.Errorf("%s: in a task %q, want %q", test.command, there, test.there)
		}
		t.Chdir(task)
		if found := lineOf(there).identity; found != test.identity {
			t.Errorf("%s: identity in a task %q, want %q", test.command, found, test.identity)
		}
	}
}
