#!/bin/sh
# Ten stones: players take one, two or three, and the player who takes the last one wins.
#
#     driver solve ten --rules-program 'sh ten.sh'

printf 'treereduce rules 1\nname ten\nbits 4\nstart 10\n\n'
while read -r position; do
	case $position in
	'') echo ;;
	0) echo lose ;;
	*)
		moves=
		for n in 1 2 3; do
			[ "$n" -le "$position" ] && moves="$moves $n:$((position - n))"
		done
		echo "${moves# }"
		;;
	esac
done
