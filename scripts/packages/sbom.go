package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

// A component is an archive, a program or a module in a CycloneDX file.
type component struct {
	Type       string              `json:"type"`
	Name       string              `json:"name"`
	Version    string              `json:"version"`
	Package    string              `json:"purl,omitempty"`
	Hashes     []map[string]string `json:"hashes,omitempty"`
	Components []component         `json:"components,omitempty"`
}

// sbom writes the software bill of materials of an archive: its programs, and in each the modules that
// Go has recorded in it.
func (r *release) sbom(p platform) error {
	names, err := r.programs(p)
	if err != nil {
		return err
	}
	var programs []component
	for _, program := range names {
		path := filepath.Join(r.tree(p), program)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return err
		}
		c := component{Type: "application", Name: program, Version: r.version, Hashes: []map[string]string{{"alg": "SHA-256", "content": fmt.Sprintf("%x", sha256.Sum256(data))}}}
		for _, m := range append(info.Deps, &info.Main, &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}) {
			c.Components = append(c.Components, component{Type: "library", Name: m.Path, Version: m.Version, Package: "pkg:golang/" + m.Path + "@" + m.Version})
		}
		programs = append(programs, c)
	}
	data, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": programs,
		"metadata": map[string]any{"timestamp": r.time.Format(time.RFC3339), "component": component{Type: "application", Name: name, Version: r.version}},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, filepath.Base(r.tree(p))+".cdx.json"), append(data, '\n'), 0o644)
}
