#!/usr/bin/env bash
# lines prints the lines of Go, Python and JavaScript of each part, outside tests and in tests, and the words of the docs
# outside docs/notes. Test support counts as tests. The core is all but play and cloud.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z '*.go' '*.py' '*.js' | xargs -0 wc -l | awk '
	$2 == "total" { next }
	{
		split($2, dir, "/")
		part = dir[1]
		if (part == "internal" || part == "cli") part = part "/" dir[2]
		test = $2 ~ /_test\.go$|(^|\/)(testing|testdata|tests|gametest)\//
		if (part == "internal/testing") part = "internal"
		lines[part, test] += $1; all[test] += $1; parts[part]
		if (part != "play" && part != "cloud") core[test] += $1
	}
	END {
		for (part in parts) printf "%-20s %7d %7d\n", part, lines[part, 0], lines[part, 1] | "sort"
		close("sort")
		printf "%-20s %7d %7d\n", "core", core[0], core[1]
		printf "%-20s %7d %7d\n", "all", all[0], all[1]
	}'
printf '%-20s %7d words\n' docs "$(git ls-files README.md CONTRIBUTING.md 'docs/*.md' | grep -v ^docs/notes/ | xargs cat | wc -w)"
