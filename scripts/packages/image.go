package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"io"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// image writes the container image, a directory in the layout of the Open Container Initiative.
func (r *release) image(platforms []platform) error {
	var images []mutate.IndexAddendum
	for _, p := range platforms {
		if p.system != "linux" {
			continue
		}
		image, err := r.imageOf(p)
		if err != nil {
			return err
		}
		images = append(images, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.system, Architecture: p.arch}}})
	}
	if len(images) == 0 {
		return nil
	}
	all, err := layout.Write(filepath.Join(r.out, name+"-"+r.version+"-oci"), empty.Index)
	if err != nil {
		return err
	}
	return all.AppendIndex(mutate.AppendManifests(empty.Index, images...),
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version}))
}

// imageOf returns the image of a platform: a layer that seldom changes, and one of the programs.
func (r *release) imageOf(p platform) (v1.Image, error) {
	below, err := r.systemFiles()
	if err != nil {
		return nil, err
	}
	options := []tarball.LayerOption{tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching}
	system, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(below)), nil }, options...)
	if err != nil {
		return nil, err
	}
	programs, err := tarball.LayerFromFile(filepath.Join(r.work, "layer-"+p.String()+".tar"), options...)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, system, programs); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.system, p.arch, v1.Time{Time: r.time}
	for i := range config.History {
		config.History[i].Created = config.Created
	}
	config.Config = v1.Config{
		User: name, WorkingDir: "/data", Env: []string{"PATH=/usr/bin"}, Entrypoint: []string{"/usr/bin/driver"},
		Labels: map[string]string{"org.opencontainers.image.source": homepage, "org.opencontainers.image.version": r.version},
	}
	return mutate.ConfigFile(image, config)
}

// systemFiles returns, as a tar file, what programs expect of a system: a user, certificates, and
// directories that they can write to.
func (r *release) systemFiles() ([]byte, error) {
	var certificates, b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a file cannot say for which certificates a root is valid
			if err := pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
				return nil, err
			}
		}
	}
	const user = 65532 // as in other images without a system
	w := tar.NewWriter(&b)
	var errs []error
	add := func(h tar.Header, content string) {
		h.Size, h.ModTime = int64(len(content)), r.time
		errs = append(errs, w.WriteHeader(&h))
		_, err := io.WriteString(w, content)
		errs = append(errs, err)
	}
	add(tar.Header{Name: "data/", Mode: 0o755, Uid: user, Gid: user}, "")
	add(tar.Header{Name: "etc/passwd", Mode: 0o644}, "root:x:0:0::/:/\ntreereduce:x:65532:65532::/data:/\n")
	add(tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, certificates.String())
	add(tar.Header{Name: "tmp/", Mode: 0o1777}, "")
	return b.Bytes(), errors.Join(append(errs, w.Close())...)
}
