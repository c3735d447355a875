package hadoop

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// umaskMode is the property with the umask of new files and directories. The name node applies none.
const umaskMode = "fs.permissions.umask-mode"

// othersWrite are the permissions of group and others to write.
const othersWrite fs.FileMode = 0o022

// octalUmask matches a umask of three digits.
var octalUmask = regexp.MustCompile(`^\s*0*[0-7]{3}\s*$`)

// parseUmask parses a umask of octal digits.
func parseUmask(properties hadoopconf.HadoopConf) (fs.FileMode, error) {
	text, ok := properties[umaskMode]
	if !ok {
		return 0o022, nil
	}
	if !octalUmask.MatchString(text) {
		return 0, fmt.Errorf("%s is %q: expected octal digits, such as 022", umaskMode, text)
	}
	mask, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32)
	return fs.FileMode(mask), err
}

// CheckClosed returns an error if a directory, or something in it, gives group and others permissions to
// write that the umask denies. The error contains the command that mends it. The directory need not exist.
func (f *FS) CheckClosed(dir string) error {
	info, err := f.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range append(entries, fs.FileInfoToDirEntry(info)) {
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode()&othersWrite&f.umask != 0 {
			return fmt.Errorf("%s: other users can write to %s (%v); to deny it: hadoop fs -chmod -R go-w %s", dir, info.Name(), info.Mode(), f.name+dir)
		}
	}
	return nil
}

// PutProgram writes a program that jobs execute, unless it exists. A user who can replace it executes code
// in jobs of this user, so it is an error if another user owns it, its directory or the directory above,
// if others can write to it, or if its content is another one.
func (f *FS) PutProgram(name string, content []byte) error {
	dir := path.Dir(name)
	if err := f.MkdirAll(dir); err != nil {
		return err
	}
	user, err := f.owner(dir)
	if err != nil {
		return err
	}
	if _, err := f.checkOwner(path.Dir(dir), user); err != nil {
		return err
	}
	if err := f.closeOwn(dir, user); err != nil {
		return err
	}
	info, err := f.checkOwner(name, user)
	if errors.Is(err, fs.ErrNotExist) {
		fresh := name + ".new"
		if err := store.WriteFile(f, fresh, content); err != nil {
			return err
		}
		if err := f.closeOwn(fresh, user); err != nil {
			return err
		}
		return f.Rename(fresh, name)
	}
	if err != nil {
		return err
	}
	found, err := store.ReadFile(f, name)
	if err != nil {
		return err
	}
	if info.Mode()&othersWrite != 0 || !bytes.Equal(found, content) {
		return fmt.Errorf("%s is not the program that this driver has uploaded (%v, %d bytes): hadoop fs -rm %s", name, info.Mode(), len(found), f.name+name)
	}
	return nil
}

// owner returns the owner of new files in a directory: with Kerberos, the rules of the name node map
// the principal to a user.
func (f *FS) owner(dir string) (string, error) {
	probe := path.Join(dir, "_owner-"+rand.Text())
	if err := store.WriteFile(f, probe, nil); err != nil {
		return "", err
	}
	info, err := f.Stat(probe)
	if err != nil {
		return "", err
	}
	return ownerOf(info), f.RemoveAll(probe)
}

func ownerOf(info fs.FileInfo) string { return info.(*hdfs.FileInfo).Owner() }

// checkOwner returns an error unless a file or directory belongs to the user.
func (f *FS) checkOwner(name, user string) (fs.FileInfo, error) {
	info, err := f.Stat(name)
	if err == nil && ownerOf(info) != user {
		err = fmt.Errorf("%s belongs to %s, not to %s, and its programs would run in your jobs; name another data directory, or use: hadoop fs -rm -r %s", name, ownerOf(info), user, f.name+name)
	}
	return info, err
}

// closeOwn makes a file or directory of the user writable by no one else.
func (f *FS) closeOwn(name, user string) error {
	info, err := f.checkOwner(name, user)
	if err != nil || info.Mode()&othersWrite == 0 {
		return err
	}
	return f.do(func(client *nameClient) error { return client.Chmod(name, info.Mode().Perm()&^othersWrite) })
}
