package system

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/treereduce/treereduce/internal/testing/must"
)

func init() {
	if os.Getenv(role) == "scanner" {
		scan(os.Args[1])
	}
}

// scan opens each new file below a directory for 20 ms, as a virus scanner does, until the process ends.
func scan(dir string) {
	seen := make(map[string]bool)
	for {
		filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !seen[name] {
				seen[name] = true
				if h, err := hold(name); err == nil {
					time.AfterFunc(20*time.Millisecond, func() { windows.CloseHandle(h) })
				}
			}
			return nil
		})
		time.Sleep(time.Millisecond)
	}
}

// hold opens a file, and lets others only read it.
func hold(name string) (windows.Handle, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, err
	}
	return windows.CreateFile(text, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
}

// TestWhileShared renames, deletes and opens files that another handle has open until the first try has failed.
func TestWhileShared(t *testing.T) {
	for name, do := range map[string]func(file string) error{
		"rename":                  func(file string) error { return os.Rename(file, file+"2") },
		"replace":                 func(file string) error { return os.Rename(file+"3", file) },
		"remove":                  os.Remove,
		"rename of the directory": func(file string) error { return os.Rename(filepath.Dir(file), filepath.Dir(file)+"2") },
		"remove of the directory": func(file string) error { return os.RemoveAll(filepath.Dir(file)) },
		"open": func(file string) error {
			f, err := os.OpenFile(file, os.O_RDWR, 0)
			if err == nil {
				f.Close()
			}
			return err
		},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		must.OK(t, os.Mkdir(dir, 0o777))
		file := filepath.Join(dir, "f")
		must.OK(t, os.WriteFile(file, []byte("x"), 0o666))
		must.OK(t, os.WriteFile(file+"3", nil, 0o666))
		h := must.Get(hold(file))(t)
		tries := 0
		err := WhileShared(func() error {
			err := do(file)
			if tries++; tries == 1 {
				windows.CloseHandle(h)
			}
			return err
		})
		if err != nil || tries != 2 && name != "rename of the directory" { // Wine allows that
			t.Errorf("%s: %v after %d tries", name, err, tries)
		}
	}
}
