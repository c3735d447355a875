#!/usr/bin/env bash
# site.sh solves boards, and writes the site of play web --export with their tables. It prints the size of each table, and
# fails if they have more than 25 MB together. If it is interrupted, the next run continues.
#
#	scripts/site.sh SITE TABLES BOARDS [DATA…]
#
# SITE is a new or an empty directory. TABLES gets a data directory for each board, which the next run uses. BOARDS is a file
# with the arguments of driver solve, a line for each board. DATA are data directories that the site has as well, without
# the limit. The programs are those of bin.
set -euo pipefail
limit=25000000 # bytes

if [ $# -lt 3 ]; then
	echo 'usage: scripts/site.sh SITE TABLES BOARDS [DATA...]' >&2
	exit 2
fi
export LC_ALL=C
site=$1 tables=$2 boards=$3
shift 3
[ -z "$(ls -A "$site" 2>/dev/null)" ] || { echo "site.sh: $site: not empty: delete it, or name another directory with SITE" >&2; exit 1; }
data=() sizes='' all=0
for dir; do
	data+=(--data "$dir")
done

while read -r -a board <&3; do
	dir=$tables/$(sed 's/ --[a-z]* /-/g' <<<"${board[*]}") # mancala --pits 3 --stones 4: mancala-3-4
	resume=()
	[ ! -e "$dir/treereduce.json" ] || resume=(--resume)
	solved=$(bin/driver solve "${board[@]}" --data "$dir" --final no ${resume[@]+"${resume[@]}"})
	size=$(cat "$dir"/table/* | wc -c)
	line=$(awk -v size="$size" 'NR == 1 { first = $0 } NR == 2 { printf "%9.3f MB  %s, %s", size / 1e6, first, $0 }' <<<"$solved")
	echo "$line"
	sizes+=$line$'\n'
	all=$((all + size))
	data+=(--data "$dir")
done 3<"$boards"

if [ $all -gt $limit ]; then
	{
		echo "site.sh: the tables of $boards have $all bytes, but all tables of a site may have $limit: delete a line there. The largest:"
		printf %s "$sizes" | sort -rn | head -3
	} >&2
	exit 1
fi
bin/play web --export "$site" "${data[@]}"
