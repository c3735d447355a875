package hadoop

import (
	"bytes"
	"crypto/rc4"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// writables returns a file of tokens in version 0; the name of each is its service.
func writables(tokens ...token) []byte {
	b := []byte{'H', 'D', 'T', 'S', 0, byte(len(tokens))}
	data := func(d string) {
		if len(d) < 128 {
			b = append(b, byte(len(d)))
		} else { // -114: two bytes follow
			b = binary.BigEndian.AppendUint16(append(b, 256-114), uint16(len(d)))
		}
		b = append(b, d...)
	}
	for _, t := range tokens {
		for _, field := range []string{t.service, string(t.identifier), string(t.password), t.kind, t.service} {
			data(field)
		}
	}
	return append(b, 1, 1, 's', 2, 'x', 'y') // a secret
}

// of returns the identifier of a token of a user.
func of(user string) []byte { return append([]byte{0, byte(len(user))}, user+"\x04yarn\x00"...) }

// theToken is a token for a name node on this machine, with a password of more than 127 bytes.
var theToken = token{of("alice@EXAMPLE.COM"), []byte(strings.Repeat("secret", 30)), hdfsToken, "127.0.0.1:8020"}

func TestParseTokens(t *testing.T) {
	tokens := []token{theToken, {[]byte("job"), []byte("shuffle"), "mapreduce.job", "job_1"}}
	b := writables(tokens...)
	if got, err := parseTokens(b); err != nil || !reflect.DeepEqual(got, tokens) {
		t.Errorf("%v, %v", got, err)
	}
	for n := range len(b) - 6 {
		if got, err := parseTokens(b[:n]); err == nil {
			t.Errorf("%d of %d bytes: %v", n, len(b), got)
		}
	}
	for b, want := range map[byte]int64{0: 0, 127: 127, 0x90: -112} {
		if n, err := (writableReader{bytes.NewReader([]byte{b})}).number(); n != want || err != nil {
			t.Errorf("%d: %d, %v, want %d", b, n, err, want)
		}
	}
	if n, err := (writableReader{bytes.NewReader([]byte{256 - 122, 1, 0})}).number(); n != -257 || err != nil {
		t.Errorf("got %d, %v, want -257", n, err)
	}
}

// TestNameNodeToken checks which of several tokens is chosen, and the errors of files without one.
func TestNameNodeToken(t *testing.T) {
	other := token{of("bob"), []byte("x"), hdfsToken, "127.0.0.1:9000"}
	logical := token{of("carol"), []byte("x"), hdfsToken, "ha-hdfs:both"}
	staging := token{of("dave"), []byte("x"), hdfsToken, "ha-hdfs:staging"}
	file := filepath.Join(t.TempDir(), "tokens")
	for _, test := range []struct {
		content   []byte
		addresses string
		want      string // the user, or the error
	}{
		{writables(theToken), "elsewhere:1", "alice@EXAMPLE.COM"},
		{writables(other, theToken, logical), "localhost:8020", "alice@EXAMPLE.COM"},
		{writables(other, theToken, logical), "127.0.0.1:9000", "bob"},
		{writables(other, staging, theToken, logical), "one:8020,two:8020", "carol"},
		{writables(other, staging), "elsewhere.invalid:1", "no delegation token of the name node elsewhere.invalid:1 in FILE"},
		{writables(token{kind: "mapreduce.job"}), "one:1", "no delegation token of the name node one:1 in FILE"},
		{writables(token{identifier: []byte{1}, kind: hdfsToken}), "one:1", "FILE: delegation token: unknown version of the token's identifier"},
		{[]byte("HDTS\x01"), "one:1", "FILE: version 1 of the format of tokens is unknown"},
		{[]byte("HDT"), "one:1", "FILE: not a file of tokens"},
	} {
		must.OK(t, os.WriteFile(file, test.content, 0o600))
		_, got, err := nameNodeToken(file, Scheme+"both", strings.Split(test.addresses, ","))
		if err != nil {
			got = strings.ReplaceAll(err.Error(), file, "FILE")
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.addresses, got, test.want)
		}
	}
	if _, _, err := nameNodeToken(filepath.Join(t.TempDir(), "none"), "", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestDigest checks the example of RFC 2831.
func TestDigest(t *testing.T) {
	d, err := parseChallenge(`realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8`)
	must.OK(t, err)
	d.user, d.password, d.cnonce, d.uri = "chris", "secret", "OA6MHXh6VqTrRk", "imap/elwood.innosoft.com"
	if got := d.response(); !strings.Contains(got, "response=d388dad90d4bbd760a152321f2143af7,") {
		t.Error(got)
	}
	if got := d.digest(""); got != "ea40f60335c427b5527b84dbabcdfffd" {
		t.Error(got)
	}
	for text, want := range map[string]string{
		`nonce="n",qop="auth,auth-int"`:                             "auth-int",
		`nonce="n",qop="auth,auth-conf,auth-int",cipher="3des,rc4"`: "auth-conf",
		`nonce="n"`:                             "auth",
		`nonce="n",qop="some"`:                  `unknown protection in the name node's challenge: "some" (expected auth, auth-int or auth-conf)`,
		`nonce="n",qop=auth-conf,cipher="3des"`: `no known cipher in the name node's challenge: "3des" (expected rc4)`,
		`realm="r",qop="auth"`:                  "the name node's challenge has no nonce",
	} {
		d, err := parseChallenge(text)
		if err == nil && d.qop != want || err != nil && err.Error() != want {
			t.Errorf("%s: %+v, %v", text, d, err)
		}
	}
}

// A nameNode is the other side of a handshake.
type nameNode struct {
	net.Conn
	t        *testing.T
	impostor bool // It does not know the token.
}

// frame reads a frame of the client, and returns the SASL message in it.
func (n *nameNode) frame() message {
	var length [4]byte
	io.ReadFull(n, length[:])
	b := make([]byte, binary.BigEndian.Uint32(length[:]))
	io.ReadFull(n, b)
	header, size := protowire.ConsumeBytes(b)
	h, err := parseMessage(header)
	if err != nil || protowire.DecodeZigZag(h.number(requestCall)) != saslCall {
		n.t.Errorf("header %v, %v", h, err)
	}
	body, _ := protowire.ConsumeBytes(b[size:])
	m, err := parseMessage(body)
	if err != nil {
		n.t.Error(err)
	}
	return m
}

// answer sends a SASL message, or an error.
func (n *nameNode) answer(state uint64, token, auth []byte, failure string) {
	header := []byte{answerStatus << 3, 0}
	if failure != "" {
		header = append([]byte{answerStatus << 3, 2, answerText<<3 | 2, byte(len(failure))}, failure...)
	}
	body := []byte{saslState << 3, byte(state)}
	body = protowire.AppendBytes(append(body, saslToken<<3|2), token)
	if auth != nil {
		body = protowire.AppendBytes(append(body, saslAuths<<3|2), auth)
	}
	b := protowire.AppendBytes(protowire.AppendBytes(nil, header), body)
	n.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
}

// serve takes part in a handshake, as a name node that protects as qop says and knows the token.
// Then it sends back what it receives.
func (n *nameNode) serve(qop string) {
	defer n.Close()
	head := make([]byte, len(rpcHeader))
	if io.ReadFull(n, head); !bytes.Equal(head, rpcHeader) {
		n.t.Errorf("header %q", head)
	}
	if m := n.frame(); m.number(saslState) != saslNegotiate {
		n.t.Errorf("got %v", m)
	}
	challenge := `realm="default",nonce="n+1/2=",qop="` + qop + `",charset=utf-8,cipher="3des,rc4,des",algorithm=md5-sess`
	var auth []byte
	for i, v := range []string{"TOKEN", "DIGEST-MD5", "", "default", challenge} {
		auth = append(auth, field(protowire.Number(i+1), v)...)
	}
	n.answer(saslNegotiate, nil, auth, "")
	initiate := n.frame()
	response := make(map[string]string)
	for _, m := range directive.FindAllStringSubmatch(string(initiate.last(saslToken)), -1) {
		response[m[1]] = m[2] + m[3]
	}
	d, err := parseChallenge(challenge)
	if err != nil {
		n.t.Error(err)
		return
	}
	d.user, d.password = base64.StdEncoding.EncodeToString(theToken.identifier), base64.StdEncoding.EncodeToString(theToken.password)
	d.uri, d.cnonce = "/default", response["cnonce"]
	if response["response"] != d.digest("AUTHENTICATE") || response["username"] != d.user || response["qop"] != d.qop {
		n.answer(saslChallenge, nil, nil, "token can't be found\n\tat Java")
		return
	}
	if n.impostor {
		n.answer(saslSuccess, []byte("rspauth="+d.digest("AUTHENTICATE")), nil, "")
		return
	}
	n.answer(saslSuccess, []byte("rspauth="+d.digest("")), nil, "")
	if d.qop == "auth" {
		io.Copy(n, n)
		return
	}
	s, err := d.session()
	if err != nil {
		n.t.Error(err)
		return
	}
	s.in, s.out, s.opener, s.sealer = s.out, s.in, s.sealer, s.opener
	for range 3 {
		m := n.frame()
		call, err := s.unwrap(m.last(saslToken))
		if err != nil || m.number(saslState) != saslWrap {
			n.t.Errorf("%v, %v", m, err)
		}
		n.answer(saslWrap, s.wrap(call), nil, "")
	}
	m := n.frame()
	call, _ := s.unwrap(m.last(saslToken))
	changed := s.wrap(call)
	changed[0] ^= 1
	n.answer(saslWrap, changed, nil, "")
}

// TestHandshake authenticates with a name node, with each protection, and with a token that it
// does not know.
func TestHandshake(t *testing.T) {
	dial := func(qop string, tok token) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go (&nameNode{theirs, t, tok.service == "impostor"}).serve(qop)
		return tok.authenticate(ours)
	}
	for _, qop := range []string{"auth", "auth-int", "auth-conf", "auth-int,auth-conf"} {
		conn, err := dial(qop, theToken)
		if err != nil {
			t.Errorf("%s: %v", qop, err)
			continue
		}
		if n, err := conn.Write([]byte("hrpc\x09\x00\x00")); n != 7 || err != nil {
			t.Errorf("%s: %d, %v", qop, n, err)
		}
		for _, call := range []string{"x", strings.Repeat("call", 10_000), "last"} {
			go conn.Write([]byte(call))
			got := make([]byte, len(call))
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != call {
				t.Errorf("%s: %d bytes, %v", qop, len(call), err)
			}
		}
		if qop != "auth" {
			go conn.Write([]byte("changed"))
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: no error for an answer that was changed", qop)
			}
		}
		conn.Close()
	}
	impostor := theToken
	impostor.service = "impostor"
	if _, err := dial("auth-conf", impostor); err == nil || err.Error() != "delegation token: the name node does not know the token" {
		t.Errorf("an impostor: %v", err)
	}
	unknown := theToken
	unknown.password = []byte("wrong")
	if _, err := dial("auth", unknown); err == nil || err.Error() != "delegation token: token can't be found ()" {
		t.Errorf("a token with a wrong password: %v", err)
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add(writables(theToken))
	f.Fuzz(func(t *testing.T, b []byte) {
		tokens, err := parseTokens(b)
		if err != nil {
			return
		}
		for _, token := range tokens {
			token.owner()
		}
	})
}

func FuzzParseChallenge(f *testing.F) {
	f.Add(`realm="default",nonce="n",qop="auth-int,auth-conf",charset=utf-8,cipher="3des,rc4",algorithm=md5-sess`)
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := parseChallenge(text); err == nil && (d.nonce == "" || d.qop == "" || d.qop == "auth-conf" && d.cipher == "") {
			t.Errorf("%+v", d)
		}
	})
}

func FuzzParseSASL(f *testing.F) {
	f.Add([]byte{4, 8, 1, 16, 0, 2, 16, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := parseSASL(b, saslSuccess); err == nil {
			m.last(saslToken)
		}
	})
}

// TestSession changes each byte of a protected message, and sends one twice, and one that is too short.
func TestSession(t *testing.T) {
	for _, qop := range []string{"auth-int", "auth-conf"} {
		d := &digest{realm: "realm", nonce: "nonce", cnonce: "cnonce", user: "user", password: "password", qop: qop}
		server := must.Get(d.session())(t)
		client := &session{in: server.out, out: server.in}
		opened := func(b []byte) (string, error) {
			if qop == "auth-conf" {
				client.opener = must.Get(rc4.NewCipher(sum(string(d.secret()), "Digest H(A1) to client-to-server sealing key magic constant")))(t)
			}
			got, err := client.unwrap(b)
			return string(got), err
		}
		b := server.wrap([]byte("text"))
		for at := range b {
			changed := slices.Clone(b)
			changed[at] ^= 1
			if got, err := opened(changed); err == nil {
				t.Errorf("%s: byte %d was changed: %q", qop, at, got)
			}
		}
		if got, err := opened(b); got != "text" || err != nil {
			t.Errorf("%s: %q, %v", qop, got, err)
		}
		for _, wrong := range [][]byte{b, make([]byte, checksumLength+trailerLength-1)} {
			if got, err := opened(wrong); err == nil {
				t.Errorf("%s: %d bytes, again or too short: %q", qop, len(wrong), got)
			}
		}
	}
}

// TestAnswerTooLong receives an answer that is longer than Hadoop's limit.
func TestAnswerTooLong(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		theirs.Write(binary.BigEndian.AppendUint32(nil, maxFrame+1))
		theirs.Close()
	}()
	if _, err := (&saslConn{Conn: ours}).receive(saslSuccess); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
}
