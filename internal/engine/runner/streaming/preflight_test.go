package streaming

import (
	"strings"
	"testing"
)

// TestCheckName checks that the error names the character that is not allowed.
func TestCheckName(t *testing.T) {
	for _, name := range []string{"/", "/user/me/all_data", "/a-b/c.d/é=(1)~$@!&;+'"} {
		if err := checkName(name); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{"/a,b": `','`, "/a b": `' '`, "/x/[1]": `'['`, "/100%": `'%'`, "/a\tb": `'\t'`} {
		if err := checkName(name); err == nil || !strings.Contains(err.Error(), "no "+want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// TestComplaint checks that the error is found, and whether Java is the cause.
func TestComplaint(t *testing.T) {
	t.Setenv("JAVA_HOME", "/java")
	const another = ` (this Hadoop wants another Java; JAVA_HOME is "/java")`
	for _, test := range []struct{ stderr, want string }{
		{"", ""},
		{"ERROR: JAVA_HOME is not set and could not be found.\n", ": ERROR: JAVA_HOME is not set and could not be found."},
		// Java 25.
		{"WARNING: A restricted method in java.lang.System has been called\n\n-ls: Fatal internal error\n" +
			"java.lang.UnsupportedOperationException: getSubject is not supported\n\tat java.base/javax.security.auth.Subject.getSubject(Subject.java:277)\n",
			": java.lang.UnsupportedOperationException: getSubject is not supported" + another},
		// Java 8, with options of later ones and without.
		{"Unrecognized option: --add-opens=java.base/java.io=ALL-UNNAMED\nError: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred. Program will exit.\n",
			": Unrecognized option: --add-opens=java.base/java.io=ALL-UNNAMED" + another},
		{"Exception in thread \"main\" java.lang.UnsupportedClassVersionError: A has been compiled by a more recent version\n\tat java.lang.ClassLoader.defineClass1(Native Method)\n",
			": java.lang.UnsupportedClassVersionError: A has been compiled by a more recent version" + another},
		// An error of Hadoop, after a warning in its log.
		{"2026-11-21 19:01:11,528 WARN util.NativeCodeLoader: Unable to load native-hadoop library\ntest: Unknown protocol: ClientProtocol\n",
			": test: Unknown protocol: ClientProtocol"},
	} {
		if got := complaint(test.stderr); got != test.want {
			t.Errorf("%q\nis %q, want %q", test.stderr, got, test.want)
		}
	}
}
