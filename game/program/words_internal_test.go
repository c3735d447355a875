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
	t.Setenv("HOME", "/home/ada")
	t.Setenv("NAME", "value")
	t.Setenv("EMPTY", "")
	for _, test := range []struct {
		command string
		windows bool
		want    []string
	}{
		{command: ""},
		{command: " \t "},
		{command: "sh  a.sh\tnormal", want: []string{"sh", "a.sh", "normal"}},
		{command: `sh 'my dir/a "x".sh'  "it's $NAME" ''`, want: []string{"sh", `my dir/a "x".sh`, "it's value", ""}},
		{command: `sh my\ dir/a.sh \$NAME "\$NAME \a" '\$NAME'`, want: []string{"sh", "my dir/a.sh", "$NAME", `$NAME \a`, `\$NAME`}},
		{command: "sh a\\\nb", want: []string{"sh", "ab"}},
		{command: "cd a&&sh b.sh;true", want: []string{"cd", "a", "<&>", "<&>", "sh", "b.sh", "<;>", "true"}},
		{command: "(sh <a.sh|cat)\n>b", want: []string{"<(>", "sh", "<<>", "a.sh", "<|>", "cat", "<)>", "<\n>", "<>>", "b"}},
		{command: "$NAME/a ${NAME}b ${NAME:-c} $1 $$ $EMPTY. $NO_SUCH_NAME. '$NAME'", want: []string{"value/a", "valueb", "${NAME:-c}", "$1", "$$", ".", ".", "$NAME"}},
		{command: `~/a ~ a~ '~/b' \~/c ~bob/d X=~/e:~/f`, want: []string{"/home/ada/a", "/home/ada", "a~", "~/b", "~/c", "~bob/d", "X=/home/ada/e:/home/ada/f"}},
		{command: "sh $(cat a) `b`", want: []string{"sh", "$", "<(>", "cat", "a", "<)>", "<`>", "b", "<`>"}},
		{command: `sh "a $(cat b)"`, want: []string{"sh", "a $(cat b)"}},
		{command: "'open", want: []string{"open"}},
		{command: `end\`, want: []string{`end\`}},
		{command: `"C:\my tools\ten.exe" -x C:\a\b.txt`, windows: true, want: []string{`C:\my tools\ten.exe`, "-x", `C:\a\b.txt`}},
		{command: `python it's.py 'a`, windows: true, want: []string{"python", "it's.py", "'a"}},
		{command: `a;b & c $NAME ~\d`, windows: true, want: []string{"a;b", "<&>", "c", "$NAME", `~\d`}},
	} {
		var found []string
		for _, w := range wordsOf(test.command, test.windows) {
			if w.operator {
				w.text = "<" + w.text + ">"
			}
			found = append(found, w.text)
		}
		if !slices.Equal(found, test.want) {
			t.Errorf("%s: %q, want %q", test.command, found, test.want)
		}
	}
}

// TestLine reads commands here and in a task of a cluster, which has the files in its working directory: they are the same.
func TestLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for sh")
	}
	here, task := t.TempDir(), t.TempDir()
	t.Setenv("HOME", here)
	t.Setenv("MODE", "normal")
	for _, name := range []string{"x.py", "my dir/y z.py", "sub/deep/x.py", "sub/it's.py", "lib.zip", "classes/J.class", "venv/pyvenv.cfg", "venv/bin/python"} {
		must.OK(t, os.MkdirAll(filepath.Join(here, filepath.Dir(name)), 0o777))
		must.OK(t, os.WriteFile(filepath.Join(here, name), nil, 0o666))
		must.OK(t, os.WriteFile(filepath.Join(task, filepath.Base(name)), nil, 0o666))
	}
	for _, test := range []struct{ command, files, identity, there string }{
		{"python3 x.py", "x.py", "python3 x.py", "python3 ./x.py"},
		{"/usr/bin/python3 ./x.py  a", "x.py", "python3 x.py a", "/usr/bin/python3 ./x.py  a"},
		{`python3 "my dir/y z.py"`, "my dir/y z.py", `python3 "y z.py"`, "python3 './y z.py'"},
		{"python3 ~/x.py", here + "/x.py", "python3 x.py", "python3 ./x.py"},
		{"python3 $HOME/x.py $MODE", here + "/x.py", "python3 x.py normal", "python3 ./x.py $MODE"},
		{"venv/bin/python x.py", "x.py", "python x.py", "python ./x.py"},
		{"~/venv/bin/python x.py", "x.py", "python x.py", "~/venv/bin/python ./x.py"},
		{"cd sub && python3 it\\'s.py", "sub/it's.py", `cd . & & python3 "it's.py"`, `cd . && python3 './it'\''s.py'`},
		{"(cd sub;cd deep;python3 x.py)", "x.py sub/deep/x.py", "( cd . ; cd . ; python3 x.py )", "(cd .;cd .;python3 ./x.py)"},
		{"python3 x.py;true", "x.py", "python3 x.py ; true", "python3 ./x.py;true"},
		{"python3 x.py\ntrue", "x.py", "python3 x.py ; true", "python3 ./x.py\ntrue"},
		{"PYTHONPATH=/no/such:lib.zip:'my dir' python3 x.py", "lib.zip x.py", `"PYTHONPATH=such:lib.zip:my dir" python3 x.py`,
			"PYTHONPATH='/no/such:./lib.zip:my dir' python3 ./x.py"},
		{"X='my dir/y z.py' cat", "my dir/y z.py", `"X=y z.py" cat`, "X='./y z.py' cat"},
		{"java -cp sub/../classes J", "", "java -cp classes J", "java -cp classes J"},
		{"ten --start=X./O. 3/5 'a;b' ';'", "", `ten --start=X./O. 3/5 "a;b" ";"`, "ten --start=X./O. 3/5 'a;b' ';'"},
		{"sh x.py >sub/it\\'s.py 2>>lib.zip", "x.py", `sh x.py > "it's.py" 2 > > lib.zip`, `sh ./x.py >'it'\''s.py' 2>>lib.zip`},
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
