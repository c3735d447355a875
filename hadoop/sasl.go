package hadoop

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/rc4"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The hdfs client cannot authenticate with a delegation token. So the connection does it, before
// the client sends its first bytes:
//
//	client                                  name node
//	"hrpc", 9, 0, SASL
//	NEGOTIATE                        →
//	                                 ←      NEGOTIATE: TOKEN by DIGEST-MD5, its challenge
//	INITIATE: TOKEN, the response    →
//	                                 ←      SUCCESS: the proof that it knows the token too
//	"hrpc", 9, 0, no authentication         (from the hdfs client; not sent)
//	calls                            ↔      answers
//
// If the name node wants integrity or privacy (hadoop.rpc.protection), each call is the token of a
// message WRAP, and so are the answers.

// States of a SASL message.
const (
	saslSuccess = iota
	saslNegotiate
	saslInitiate
	saslChallenge
	saslResponse
	saslWrap
)

// Fields of the messages RpcRequestHeaderProto, RpcResponseHeaderProto, RpcSaslProto and SaslAuth.
const (
	requestKind, requestOp, requestCall, requestClient = 1, 2, 3, 4
	answerStatus, answerException, answerText          = 2, 4, 5
	saslState, saslToken, saslAuths                    = 2, 3, 4
	authMethod, authMechanism, authProtocol            = 1, 2, 3
	authServer, authDigest                             = 4, 5
)

const (
	// saslCall is the number of a call that is a SASL message.
	saslCall = -33
	// maxFrame bounds the length of a message: Hadoop's limit of an answer.
	maxFrame = 128 << 20
)

// rpcHeader is the beginning of a connection that authenticates by SASL. The hdfs client sends
// as many bytes.
var rpcHeader = []byte{'h', 'r', 'p', 'c', 9, 0, 0xdf}

// authenticate authenticates with a name node, and returns the connection for an hdfs client.
func (t *token) authenticate(conn net.Conn) (net.Conn, error) {
	c := &saslConn{Conn: conn, skip: len(rpcHeader)}
	if err := c.handshake(t); err != nil {
		conn.Close()
		return nil, fmt.Errorf("delegation token: %w", err)
	}
	return c, nil
}

// A saslConn is a connection to a name node that has authenticated with a token.
type saslConn struct {
	net.Conn
	skip    int      // bytes of the hdfs client that are not sent
	session *session // nil: calls are sent as they are
	rest    []byte   // of the last answer
}

func (c *saslConn) handshake(t *token) error {
	if _, err := c.Conn.Write(rpcHeader); err != nil {
		return err
	}
	if err := c.send(saslNegotiate, nil, nil); err != nil {
		return err
	}
	offer, err := c.receive(saslNegotiate)
	if err != nil {
		return err
	}
	for _, raw := range offer[saslAuths] {
		auth, err := parseMessage(raw)
		if err != nil {
			return err
		}
		if string(auth.last(authMethod)) == "TOKEN" && string(auth.last(authMechanism)) == "DIGEST-MD5" {
			return c.digest(t, auth)
		}
	}
	return errors.New("the name node accepts no tokens")
}

// digest authenticates by DIGEST-MD5, as a name node offers.
func (c *saslConn) digest(t *token, auth message) error {
	d, err := parseChallenge(string(auth.last(authDigest)))
	if err != nil {
		return err
	}
	d.user, d.password = base64.StdEncoding.EncodeToString(t.identifier), base64.StdEncoding.EncodeToString(t.password)
	d.uri = string(auth.last(authProtocol)) + "/" + string(auth.last(authServer))
	d.cnonce = rand.Text()
	var chosen []byte
	for _, field := range []protowire.Number{authMethod, authMechanism, authProtocol, authServer} {
		chosen = protowire.AppendBytes(protowire.AppendTag(chosen, field, protowire.BytesType), auth.last(field))
	}
	if err := c.send(saslInitiate, []byte(d.response()), chosen); err != nil {
		return err
	}
	proof, err := c.receive(saslSuccess)
	if err != nil {
		return err
	}
	if string(proof.last(saslToken)) != "rspauth="+d.digest("") {
		return errors.New("the name node does not know the token")
	}
	if d.qop != "auth" {
		c.session, err = d.session()
	}
	return err
}

// send sends a SASL message.
func (c *saslConn) send(state uint64, token, auth []byte) error {
	varint := func(b []byte, field protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
	}
	bytes := func(b []byte, field protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	header := varint(nil, requestKind, 2) // protocol buffers
	header = varint(header, requestOp, 0) // a complete message
	header = varint(header, requestCall, protowire.EncodeZigZag(saslCall))
	header = bytes(header, requestClient, nil)
	body := varint(nil, saslState, state)
	if token != nil {
		body = bytes(body, saslToken, token)
	}
	if auth != nil {
		body = bytes(body, saslAuths, auth)
	}
	frame := make([]byte, 4, 4+len(header)+len(body)+10)
	frame = protowire.AppendBytes(protowire.AppendBytes(frame, header), body)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	_, err := c.Conn.Write(frame)
	return err
}

// receive receives a SASL message, which must have the given state.
func (c *saslConn) receive(state uint64) (message, error) {
	var length [4]byte
	if _, err := io.ReadFull(c.Conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxFrame {
		return nil, fmt.Errorf("the name node's answer is too long: %d bytes, at most %d", n, maxFrame)
	}
	var frame bytes.Buffer // grows with what arrives
	if _, err := io.CopyN(&frame, c.Conn, int64(n)); err != nil {
		return nil, err
	}
	return parseSASL(frame.Bytes(), state)
}

// parseSASL parses a SASL message of a name node, without its length.
func parseSASL(frame []byte, state uint64) (message, error) {
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return nil, protowire.ParseError(n)
	}
	status, err := parseMessage(header)
	if err != nil {
		return nil, err
	}
	if status.number(answerStatus) != 0 {
		return nil, fmt.Errorf("%s (%s)", firstLine(string(status.last(answerText))), status.last(answerException))
	}
	body, n := protowire.ConsumeBytes(frame[n:])
	if n < 0 {
		return nil, protowire.ParseError(n)
	}
	m, err := parseMessage(body)
	if err == nil && m.number(saslState) != state {
		err = fmt.Errorf("unexpected SASL message: state %d, expected %d", m.number(saslState), state)
	}
	return m, err
}

// Write sends calls.
func (c *saslConn) Write(b []byte) (int, error) {
	skipped := min(c.skip, len(b))
	c.skip -= skipped
	rest := b[skipped:]
	if len(rest) == 0 {
		return skipped, nil
	}
	if c.session == nil {
		n, err := c.Conn.Write(rest)
		return skipped + n, err
	}
	if err := c.send(saslWrap, c.session.wrap(rest), nil); err != nil {
		return skipped, err
	}
	return len(b), nil
}

// Read receives answers.
func (c *saslConn) Read(b []byte) (int, error) {
	if c.session == nil {
		return c.Conn.Read(b)
	}
	for len(c.rest) == 0 {
		m, err := c.receive(saslWrap)
		if err == nil {
			c.rest, err = c.session.unwrap(m.last(saslToken))
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// A digest is an authentication by DIGEST-MD5 (RFC 2831).
type digest struct {
	realm, nonce, qop, cipher string // of the challenge; the strongest that it offers
	user, password, uri       string
	cnonce                    string
}

// directive matches a directive of a challenge: name=value or name="value".
var directive = regexp.MustCompile(`([a-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^,"\s]+))`)

// parseChallenge parses the challenge of a server.
func parseChallenge(text string) (*digest, error) {
	values := make(map[string]string)
	for _, m := range directive.FindAllStringSubmatch(text, -1) {
		values[m[1]] = m[2] + m[3]
	}
	d := &digest{realm: values["realm"], nonce: values["nonce"]}
	if d.nonce == "" {
		return nil, errors.New("the name node's challenge has no nonce")
	}
	offered := strings.Split(values["qop"], ",")
	for _, qop := range []string{"auth-conf", "auth-int", "auth"} {
		if slices.Contains(offered, qop) || qop == "auth" && values["qop"] == "" {
			d.qop = qop
			break
		}
	}
	switch {
	case d.qop == "":
		return nil, fmt.Errorf("unknown protection in the name node's challenge: %q (expected auth, auth-int or auth-conf)", values["qop"])
	case d.qop != "auth-conf":
	case slices.Contains(strings.Split(values["cipher"], ","), "rc4"):
		d.cipher = "rc4"
	default:
		return nil, fmt.Errorf("no known cipher in the name node's challenge: %q (expected rc4)", values["cipher"])
	}
	return d, nil
}

// response returns the response to the challenge.
func (d *digest) response() string {
	text := fmt.Sprintf(`charset=utf-8,username="%s",realm="%s",nonce="%s",nc=00000001,cnonce="%s",digest-uri="%s",response=%s,qop=%s`,
		d.user, d.realm, d.nonce, d.cnonce, d.uri, d.digest("AUTHENTICATE"), d.qop)
	if d.cipher != "" {
		text += ",cipher=" + d.cipher
	}
	return text
}

// secret returns H(A1).
func (d *digest) secret() []byte {
	inner := md5.Sum([]byte(d.user + ":" + d.realm + ":" + d.password))
	return sum(string(inner[:]), ":"+d.nonce+":"+d.cnonce)
}

// digest returns the digest that the client sends, with the method AUTHENTICATE, or the
// server, without a method.
func (d *digest) digest(method string) string {
	a2 := method + ":" + d.uri
	if d.qop != "auth" {
		a2 += ":00000000000000000000000000000000"
	}
	return hex.EncodeToString(sum(hex.EncodeToString(d.secret()), ":"+d.nonce+":00000001:"+d.cnonce+":"+d.qop+":"+hex.EncodeToString(sum(a2))))
}

func sum(parts ...string) []byte {
	s := md5.Sum([]byte(strings.Join(parts, "")))
	return s[:]
}

// A session protects messages after an authentication.
type session struct {
	out, in       []byte // keys of checksums
	sealer        *rc4.Cipher
	opener        *rc4.Cipher // nil: integrity, not privacy
	sent, arrived uint32
}

// session returns the session of an authentication with auth-int or auth-conf.
func (d *digest) session() (*session, error) {
	key := func(purpose string) []byte { return sum(string(d.secret()), "Digest "+purpose+" key magic constant") }
	s := &session{out: key("session key to client-to-server signing"), in: key("session key to server-to-client signing")}
	if d.qop != "auth-conf" {
		return s, nil
	}
	var err error
	if s.sealer, err = rc4.NewCipher(key("H(A1) to client-to-server sealing")); err == nil {
		s.opener, err = rc4.NewCipher(key("H(A1) to server-to-client sealing"))
	}
	return s, err
}

// checksumLength is the length of a checksum; after it come the version, 1, and the number of the
// message.
const checksumLength, trailerLength = 10, 6

func checksum(key []byte, number uint32, message []byte) []byte {
	h := hmac.New(md5.New, key)
	h.Write(binary.BigEndian.AppendUint32(nil, number))
	h.Write(message)
	return h.Sum(nil)[:checksumLength]
}

// wrap protects a message.
func (s *session) wrap(message []byte) []byte {
	b := append(slices.Clone(message), checksum(s.out, s.sent, message)...)
	if s.sealer != nil {
		s.sealer.XORKeyStream(b, b)
	}
	b = binary.BigEndian.AppendUint32(append(b, 0, 1), s.sent)
	s.sent++
	return b
}

// unwrap returns the message that the server has wrapped.
func (s *session) unwrap(b []byte) ([]byte, error) {
	n := len(b) - checksumLength - trailerLength
	if n < 0 {
		return nil, io.ErrUnexpectedEOF
	}
	sealed, trailer := slices.Clone(b[:n+checksumLength]), b[n+checksumLength:]
	if s.opener != nil {
		s.opener.XORKeyStream(sealed, sealed)
	}
	want := binary.BigEndian.AppendUint32([]byte{0, 1}, s.arrived)
	if !bytes.Equal(trailer, want) || !hmac.Equal(sealed[n:], checksum(s.in, s.arrived, sealed[:n])) {
		return nil, errors.New("an answer of the name node was changed on its way")
	}
	s.arrived++
	return sealed[:n], nil
}
