#!/usr/bin/env bash
# release.sh builds the archives of a release, and SHA256SUMS, from a clean checkout. It gives
# the same bytes for the same commit and Go version, wherever it runs. It needs GNU tar.
#
#   scripts/release.sh DIR [OS/ARCH...]     (default: linux and darwin, amd64 and arm64)
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo 'release.sh: the checkout has uncommitted changes; commit or stash them' >&2; exit 1; }
programs=(driver driver-aws play mapper reducer)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
platforms=("$@")
[ $# -gt 0 ] || platforms=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64)
version=$(git describe --tags --always)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0
packages=("${programs[@]/#/./cmd/}")

build() { # build DIR [FLAG]: the programs for GOOS and GOARCH
	go build -trimpath -buildvcs=true -ldflags='-s -w' "${@:2}" -o "$1/" "${packages[@]}"
}

# Manual pages, completions, licences and the program of play web --export are the same for all platforms.
build "$work/host" -tags=manpages
common=$work/common
mkdir -p "$common/man" "$common/completions"
for program in "${programs[@]}"; do
	"$work/host/$program" --generate-man-page >"$common/man/$program.1"
done
for program in driver driver-aws play; do
	for shell in bash zsh fish; do
		"$work/host/$program" completion $shell >"$common/completions/$program.$shell"
	done
done
cp README.md docs/grafana.json "$common/"
GOOS=js GOARCH=wasm go build -trimpath -buildvcs=true -ldflags='-s -w' -o "$common/play.wasm" ./cmd/play-wasm
gzip -n9 "$common/play.wasm"
cp "$(go env GOROOT)/lib/wasm/wasm_exec.js" "$common/"
for platform in "${platforms[@]}"; do # the modules in the programs differ between systems
	GOOS=${platform%/*} GOARCH=${platform#*/} go list -deps \
		-f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' "${packages[@]}"
done | LC_ALL=C sort -u >"$work/modules"
{
	printf '=== Go standard library\n\n'
	cat "$(go env GOROOT)/LICENSE"
	while read -r module moduleVersion dir; do
		for file in "$dir"/LICEN[CS]E* "$dir"/NOTICE*; do
			[ ! -f "$file" ] || { printf '\n=== %s %s\n\n' "$module" "$moduleVersion"; cat "$file"; }
		done
	done <"$work/modules"
} >"$common/LICENSES"

archives=()
for platform in "${platforms[@]}"; do
	name=treereduce-$version-${platform/\//-}
	echo "$name.tar.gz"
	cp -r "$common" "$work/$name"
	GOOS=${platform%/*} GOARCH=${platform#*/} build "$work/$name"
	chmod -R u=rwX,go=rX "$work/$name"
	tar -C "$work" --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner \
		--format=ustar -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
	archives+=("$name.tar.gz")
done
(cd "$out" && sha256sum "${archives[@]}" >SHA256SUMS)
