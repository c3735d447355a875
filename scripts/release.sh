#!/usr/bin/env bash
# release.sh builds the files of a release, and SHA256SUMS, from a clean checkout. It gives the same
# bytes for the same commit and Go version, wherever it runs. It needs GNU tar.
#
#   scripts/release.sh DIR [OS/ARCH...]     (default: linux, darwin and windows, amd64 and arm64)
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo 'release.sh: the checkout has uncommitted changes; commit or stash them' >&2; exit 1; }
programs=(driver driver-aws play mapper reducer)
completed=(driver driver-aws play)
read -ra steps < <(sed -n 's/^STEPS *:= //p' Makefile)
mkdir -p "$1"
target=$(cd "$1" && pwd)
shift
platforms=("$@")
[ $# -gt 0 ] || platforms=({linux,darwin,windows}/{amd64,arm64})
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/out
mkdir "$out"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export CGO_ENABLED=0 SOURCE_DATE_EPOCH
packages=("${programs[@]/#/./cmd/}")

build() { # build DIR [FLAG]: the programs for GOOS and GOARCH
	go build -trimpath -gcflags=all=-dwarf=false -buildvcs=true -ldflags='-s -w' "${@:2}" -o "$1/" "${packages[@]}"
}

pack() { # pack ARGUMENT…: tar with the same bytes on every machine
	tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar "$@"
}

install_linux() { # install_linux TREE ROOT PLATFORM: the files of an archive where Debian has them
	local lib=$2/usr/lib/treereduce share=$2/usr/share program
	mkdir -p "$2/usr/bin" "$lib" "$share"/{man/man1,doc/treereduce,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
	# Programs look for one another beside them, and driver-aws for those of a cluster in OS-ARCH there.
	cp -P "$1"/{*_map,*_reduce,play.wasm.gz,wasm_exec.js} "${programs[@]/#/$1/}" "$lib"
	ln -s ../treereduce "$lib/$3"
	ln -s "${programs[@]/#/../lib/treereduce/}" "$2/usr/bin"
	cp "$1"/man/*.1 "$share/man/man1"
	cp "$1/LICENSES" "$share/doc/treereduce/copyright"
	for program in "${completed[@]}"; do
		cp "$1/completions/$program.bash" "$share/bash-completion/completions/$program"
		cp "$1/completions/$program.zsh" "$share/zsh/vendor-completions/_$program"
		cp "$1/completions/$program.fish" "$share/fish/vendor_completions.d"
	done
}

# Manual pages, completions, licences and the program of play web --export are the same for all platforms.
build "$work/host" -tags=manpages
version=$("$work/host/driver" --version | sed 's/^driver version \(.*\), go.*/\1/')
common=$work/common
mkdir -p "$common/man" "$common/completions"
for program in "${programs[@]}"; do
	"$work/host/$program" --generate-man-page >"$common/man/$program.1"
done
for program in "${completed[@]}"; do
	for shell in bash zsh fish powershell; do
		"$work/host/$program" completion $shell >"$common/completions/$program.${shell/powershell/ps1}"
	done
done
cp README.md docs/grafana.json "$common/"
GOOS=js GOARCH=wasm go build -trimpath -gcflags=all=-dwarf=false -buildvcs=true -ldflags='-s -w' -o "$common/play.wasm" ./play/wasm
gzip -n9 "$common/play.wasm"
chmod a-x "$common/play.wasm.gz"
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

for platform in "${platforms[@]}"; do
	name=treereduce-$version-${platform/\//-} tree=$work/treereduce-$version-${platform/\//-}
	echo "$name"
	cp -r "$common" "$tree"
	GOOS=${platform%/*} GOARCH=${platform#*/} build "$tree"
	large=$(find "$tree" -maxdepth 1 -perm -u+x -type f -size +21M ! -name 'driver-aws*') # it has the client of Amazon's services
	[ -z "$large" ] || { echo "release.sh: larger than 21 MiB: $large" >&2; exit 1; }
	wheel=$work/wheel-${platform/\//-}
	mkdir -p "$wheel/treereduce/bin"
	cp python/treereduce/{*.py,py.typed} "$wheel/treereduce"
	find "$tree" -maxdepth 1 -perm -u+x -type f -exec cp {} "$wheel/treereduce/bin" \;
	cp "$tree"/{play.wasm.gz,wasm_exec.js,LICENSES} "$wheel/treereduce/bin"
	[[ $platform = windows/* ]] || for step in "${steps[@]}"; do
		ln -s mapper "$tree/${step}_map"
		ln -s reducer "$tree/${step}_reduce"
	done
	chmod -R u=rwX,go=rX "$tree" "$wheel"
	[[ $platform = windows/* ]] || pack -C "$work" -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
	[[ $platform = linux/* ]] || continue
	root=$work/root-${platform#*/}
	install_linux "$tree" "$root" "${platform/\//-}"
	chmod -R u=rwX,go=rX "$root"
	for format in deb rpm; do
		ROOT=$root VERSION=$version ARCH=${platform#*/} go -C scripts/packages tool nfpm package \
			--config nfpm.yaml --packager $format --target "$out/$name.$format" >/dev/null
		[ $format = rpm ] || mv "$root"/usr/share/zsh/{vendor-completions,site-functions} # Fedora's place
	done
	ln -sf driver-aws "$root/usr/lib/treereduce/driver" # the image has one driver, for all purposes
	rm "$root"/usr/lib/treereduce/{play.wasm.gz,wasm_exec.js}
	pack -C "$root" -cf "$work/layer-${platform/\//-}.tar" usr
done
go -C scripts/packages run . "$version" "$work" "$out" "${platforms[@]}"

# The formulae for Homebrew and Scoop name the archives.
declare -A words=([darwin]=macos [linux]=linux [amd64]=intel [arm64]=arm [windows/amd64]=64bit [windows/arm64]=arm64)
homebrew='' scoop=''
for platform in "${platforms[@]}"; do
	name=treereduce-$version-${platform/\//-}
	archive=$name.tar.gz
	[[ $platform != windows/* ]] || archive=$name.zip
	url=https://github.com/treereduce/treereduce/releases/download/$version/$archive
	sum=$(sha256sum <"$out/$archive" | cut -d' ' -f1)
	if [[ $platform = windows/* ]]; then
		scoop+=", \"${words[$platform]}\": {\"url\": \"$url\", \"hash\": \"$sum\", \"extract_dir\": \"$name\"}"
	else
		homebrew+=$(printf '\n\n  on_%s do\n    on_%s do\n      url "%s"\n      sha256 "%s"\n    end\n  end' \
			"${words[${platform%/*}]}" "${words[${platform#*/}]}" "$url" "$sum")
	fi
done
formula=$(<scripts/packages/treereduce.rb)
formula=${formula/@VERSION@/${version#v}}
[ -z "$homebrew" ] || echo "${formula/@DOWNLOADS@/"$homebrew"}" >"$out/treereduce.rb"
[ -z "$scoop" ] || cat >"$out/treereduce.json" <<-END
	{"version": "${version#v}", "description": "Exact solutions of board games by MapReduce",
	"homepage": "https://github.com/treereduce/treereduce", "license": "Unknown",
	"architecture": {${scoop#, }},
	"bin": [$(printf '"%s.exe"\n' "${programs[@]}" | paste -sd,)]}
END

cd "$out"
chmod -R u=rwX,go=rX .
find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum >"$work/SHA256SUMS"
cp -r "$work/SHA256SUMS" "$out"/* "$target"
