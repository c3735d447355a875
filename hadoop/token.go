package hadoop

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// tokenFile is the environment variable in which Hadoop names the file with the tokens of a task.
const tokenFile = "HADOOP_TOKEN_FILE_LOCATION"

// hdfsToken is the kind of the delegation tokens of name nodes.
const hdfsToken = "HDFS_DELEGATION_TOKEN"

// A token is a delegation token: a secret that a service has given to a job, so that its tasks
// can authenticate as the user who submitted it.
type token struct {
	identifier, password []byte
	kind, service        string
}

// nameNodeToken reads the file of a task's tokens, and returns the one for the file system with this
// name, whose name nodes have these addresses, and the user to whom it belongs.
func nameNodeToken(file, name string, addresses []string) (t *token, user string, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, "", fmt.Errorf("no delegation token: %w", err)
	}
	tokens, err := parseTokens(b)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", file, err)
	}
	tokens = slices.DeleteFunc(tokens, func(t token) bool { return t.kind != hdfsToken })
	if len(tokens) > 1 {
		tokens = slices.DeleteFunc(tokens, func(t token) bool { return !t.serves(name, addresses) })
	}
	if len(tokens) == 0 {
		return nil, "", fmt.Errorf("no delegation token of the name node %s in %s", strings.Join(addresses, ", "), file)
	}
	if user, err = tokens[0].owner(); err != nil {
		return nil, "", fmt.Errorf("%s: delegation token: %w", file, err)
	}
	return &tokens[0], user, nil
}

// serves reports whether the token is for a file system. Hadoop names it by name service, or by the
// IP address or host of its name node.
func (t *token) serves(name string, addresses []string) bool {
	if service, logical := strings.CutPrefix(t.service, "ha-hdfs:"); logical {
		return name == Scheme+service
	}
	for _, address := range addresses {
		host, port, _ := net.SplitHostPort(address)
		ips, _ := net.LookupHost(host)
		for _, name := range append(ips, host) {
			if t.service == net.JoinHostPort(name, port) {
				return true
			}
		}
	}
	return false
}

// owner returns the user to whom the token belongs. An identifier begins with its version, 0, and
// the names of owner, renewer and real user.
func (t *token) owner() (string, error) {
	r := writableReader{bytes.NewReader(t.identifier)}
	if version, err := r.ReadByte(); err != nil || version != 0 {
		return "", errors.New("unknown version of the token's identifier")
	}
	name, err := r.bytes()
	return string(name), err
}

// parseTokens parses the file of tokens that YARN gives to a task: "HDTS", the version 0, which is that of Hadoop's
// Writables, and tokens by name. Secrets that are not tokens follow.
func parseTokens(b []byte) (tokens []token, err error) {
	rest, ok := bytes.CutPrefix(b, []byte("HDTS"))
	if !ok || len(rest) == 0 {
		return nil, errors.New("not a file of tokens")
	}
	if version := rest[0]; version != 0 {
		return nil, fmt.Errorf("version %d of the format of tokens is unknown", version)
	}
	r := writableReader{bytes.NewReader(rest[1:])}
	n, err := r.number()
	for ; err == nil && n > 0; n-- {
		var fields [5][]byte // name in the file, identifier, password, kind, service
		for i := range fields {
			if fields[i], err = r.bytes(); err != nil {
				return nil, err
			}
		}
		tokens = append(tokens, token{fields[1], fields[2], string(fields[3]), string(fields[4])})
	}
	return tokens, err
}

// A writableReader reads Hadoop's Writables.
type writableReader struct{ *bytes.Reader }

// number reads a number of variable length: one byte from -112 to 127 is the number; a smaller byte
// is the count of bytes that follow, from -113 down, or from -121 down if the number is negative.
func (r writableReader) number() (int64, error) {
	b, err := r.ReadByte()
	if err != nil {
		return 0, io.ErrUnexpectedEOF
	}
	first := int(int8(b))
	if first >= -112 {
		return int64(first), nil
	}
	count, flip := -112-first, int64(0)
	if first < -120 {
		count, flip = -120-first, -1
	}
	var full [8]byte
	if _, err := io.ReadFull(r, full[8-count:]); err != nil {
		return 0, io.ErrUnexpectedEOF
	}
	return int64(binary.BigEndian.Uint64(full[:])) ^ flip, nil
}

// bytes reads a length and as many bytes.
func (r writableReader) bytes() ([]byte, error) {
	n, err := r.number()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(r.Len()) {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, err
}

// A message is a message of protocol buffers: the values of its fields by number. A value that
// is a varint is stored in its encoding.
type message map[protowire.Number][][]byte

// last returns the last value of a field; nil if there is none.
func (m message) last(field protowire.Number) []byte {
	if values := m[field]; len(values) > 0 {
		return values[len(values)-1]
	}
	return nil
}

// number returns the number in a field; 0 if there is none.
func (m message) number(field protowire.Number) uint64 {
	n, _ := protowire.ConsumeVarint(m.last(field))
	return n
}

func parseMessage(b []byte) (message, error) {
	m := make(message)
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(field, kind, b); n < 0 {
			return nil, protowire.ParseError(n)
		}
		value := b[:n]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(b)
		}
		m[field], b = append(m[field], value), b[n:]
	}
	return m, nil
}
