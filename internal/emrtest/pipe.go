package emrtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/treereduce/treereduce/internal/store"
)

// Pipe is a Config.Run without Hadoop, for what is not about it: a streaming step of one
// reducer is done as mapper | sort | reducer, with the programs that it names, on the
// objects of the S3 at an address. dir is for the programs.
func Pipe(s3, dir string) func(ctx context.Context, args []string) error {
	p := &pipe{objects: newObjects(s3), dir: dir}
	return p.run
}

// A pipe does steps.
type pipe struct {
	objects *objects
	dir     string
	mu      sync.Mutex // of files below dir
}

// program fetches a program, once.
func (p *pipe) program(ctx context.Context, uri string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	file := filepath.Join(p.dir, strings.ReplaceAll(strings.TrimPrefix(uri, scheme), "/", "_"))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	return file, p.objects.download(ctx, uri, file)
}

func (p *pipe) run(ctx context.Context, args []string) error {
	options, err := parseStreaming(args[1:])
	if err != nil {
		return err
	}
	env := os.Environ()
	programs := make(map[string]string) // by the name that -files gives them
	var in bytes.Buffer
	var mapper, reducer, out string
	for _, o := range options {
		switch o.name {
		case "-D":
			name, value, _ := strings.Cut(o.value, "=")
			env = append(env, strings.ReplaceAll(name, ".", "_")+"="+value)
		case "-files":
			for _, file := range strings.Split(o.value, ",") {
				uri, link, _ := strings.Cut(file, "#")
				if programs[link], err = p.program(ctx, uri); err != nil {
					return err
				}
			}
		case "-mapper":
			mapper = o.value
		case "-reducer":
			reducer = o.value
		case "-input":
			if err := p.read(ctx, o.value, &in); err != nil {
				return err
			}
		case "-output":
			out = o.value
		}
	}
	line := fmt.Sprintf("set -o pipefail; exec -a %s %s | LC_ALL=C sort -s -t'\t' -k1,1 | exec -a %s %s", mapper, programs[mapper], reducer, programs[reducer])
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	var said bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = env, &in, &said
	printed, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, said.String())
	}
	var text bytes.Buffer
	for line := range bytes.Lines(printed) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		text.Write(line)
		if !bytes.Contains(line, []byte{'\t'}) {
			text.WriteByte('\t') // as TextOutputFormat has it
		}
		text.WriteByte('\n')
	}
	if err := p.objects.put(ctx, out+"/part-00000", text.Bytes()); err != nil {
		return err
	}
	return p.objects.put(ctx, out+"/"+store.Success, nil)
}

// read reads the parts of a folder.
func (p *pipe) read(ctx context.Context, dir string, in *bytes.Buffer) error {
	uris, err := p.objects.list(ctx, dir)
	if err != nil {
		return err
	}
	if len(uris) == 0 {
		return fmt.Errorf("ERROR streaming.StreamJob: Error Launching job : Input path does not exist: %s", dir)
	}
	for _, uri := range uris {
		if strings.HasPrefix(path.Base(uri), store.PartPrefix) {
			if err := p.objects.get(ctx, uri, in); err != nil {
				return err
			}
		}
	}
	return nil
}
