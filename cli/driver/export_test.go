package driver

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// TestExport checks that, for every kind of game, the export is complete and agrees with
// look-ups, in all formats and with all filters.
func TestExport(t *testing.T) {
	for name, dir := range solved(t) {
		tab := must.Get(table.OpenFS(store.Local{}, dir, some().Parse))(t)
		defer tab.Close()
		g := tab.Game()
		all := must.Get(tab.Positions())(t)
		tsv := strings.Split(runs(t, "export --data "+dir), "\n")
		if uint64(len(tsv)) != all+1 {
			t.Errorf("%s: %d lines, want %d", name, len(tsv)-1, all)
		}
		fields, err := csv.NewReader(strings.NewReader(runs(t, "export --format csv --data "+dir))).ReadAll()
		if err != nil || len(fields) != len(tsv) || strings.Join(fields[0], " ") != "position hash value remoteness outcome" {
			t.Fatalf("%s: %d lines of CSV, %v", name, len(fields), err)
		}
		jsonl := strings.Split(runs(t, "export --format jsonl --data "+dir), "\n")
		ofValue := make(map[string]int)
		for i, line := range tsv[:len(tsv)-1] {
			words := strings.Split(line, "\t")
			p := must.Get(g.Parse(words[0]))(t)
			v, ok, err := tab.Lookup(p)
			worth := notation.ValueOf(g, p, v)
			if want := fmt.Sprintf("%s\t%d\t%s\t%s\t%s", g.AppendText(nil, p), p, worth.Word(), worth.Number(), g.Values().Word(v.Outcome())); !ok || err != nil || line != want {
				t.Errorf("%s: %q, want %q (%v)", name, line, want, err)
			}
			if got := strings.Join(fields[i+1], "\t"); got != line {
				t.Errorf("%s: CSV %q, want %q", name, got, line)
			}
			var j, looked struct {
				Position, Value, Outcome string
				Hash                     game.Position
				Remoteness               *int
			}
			if err := json.Unmarshal([]byte(jsonl[i]), &j); err != nil || j.Outcome != words[4] || (j.Remoteness == nil) == v.Valid() {
				t.Errorf("%s: JSON %s, %v, want %q", name, jsonl[i], err, line)
			}
			// lookup --json has the same fields.
			_, output, _ := runLine(some(), "lookup --json --data "+dir, "#"+words[1]+"\n")
			must.OK(t, json.Unmarshal([]byte(output), &looked))
			if !reflect.DeepEqual(j, looked) {
				t.Errorf("%s: export has %+v, lookup %+v", name, j, looked)
			}
			ofValue[words[4]+"\t"+words[3]]++
		}
		for value, n := range ofValue {
			outcome, remoteness, _ := strings.Cut(value, "\t")
			words := []string{"driver", "export", "--data", dir, "--outcome", outcome}
			if remoteness != "" {
				words = append(words, "--remoteness", remoteness)
			}
			var out, errs strings.Builder
			if status := Run(some(), words, nil, &out, &errs); status != 0 || strings.Count(out.String(), "\n") != n || strings.Count(out.String(), "\t"+remoteness+"\t"+outcome+"\n") != n {
				t.Errorf("%s: %s: status %d, %s, want %d lines, found %s", name, value, status, &errs, n, &out)
			}
		}
	}
}

// TestExportRemotenessWithDraws checks that a filter by remoteness excludes draws, which have
// none.
func TestExportRemotenessWithDraws(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	runs(t, "solve quickcross --width 4 --height 3 --connect 3 --final no --data "+dir)
	if n := strings.Count(runs(t, "export --outcome draw --data "+dir), "\n"); n != 542 {
		t.Errorf("%d lines of draws", n)
	}
	lines := strings.Split(strings.TrimSuffix(runs(t, "export --remoteness 8 --data "+dir), "\n"), "\n")
	if len(lines) != 9 || slices.ContainsFunc(lines, func(line string) bool { return !strings.HasSuffix(line, "\tlose\t8\tLOSE") }) {
		t.Errorf("remoteness 8: %q", lines)
	}
}

// TestExportDots checks that --dots writes dots instead of blanks: a spreadsheet removes the
// leading blanks of a position.
func TestExportDots(t *testing.T) {
	dirs := solved(t)
	output := runs(t, "export --format csv --dots --tier 1 --data "+dirs["connectn"])
	if want := "position,hash,value,remoteness,outcome\n..X.,2,lose,2,X wins\nX...,16,lose,2,X wins\n"; output != want {
		t.Errorf("got %q, want %q", output, want)
	}
	for line := range strings.Lines(output) {
		position, rest, _ := strings.Cut(line, ",")
		if strings.HasPrefix(rest, "hash") {
			continue
		}
		if _, looked, _ := runLine(some(), "lookup --tsv --data "+dirs["connectn"], position+"\n"); !strings.Contains(looked, "\tlose\t2\t") {
			t.Errorf("%s: %s", position, looked)
		}
	}
}

// TestSample checks that all positions are equally frequent in samples, within random
// variation.
func TestSample(t *testing.T) {
	dir := solved(t)["mnk"]
	count := make(map[string]int)
	const times, of = 300, 10
	all := strings.Count(runs(t, "export --data "+dir), "\n")
	for seed := range times {
		output := runs(t, fmt.Sprintf("export --sample %d --seed %d --data %s", of, seed, dir))
		lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
		if len(lines) != of {
			t.Fatalf("%d positions, want %d", len(lines), of)
		}
		for _, line := range lines {
			count[line]++
		}
	}
	mean := times * of / all
	for line, n := range count {
		if n < mean/2 || n > 2*mean {
			t.Errorf("%s: %d times, the mean is %d", line, n, mean)
		}
	}
	if len(count) != all {
		t.Errorf("%d of %d positions", len(count), all)
	}
}
