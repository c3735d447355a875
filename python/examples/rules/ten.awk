# Ten stones: players take one, two or three, and the player who takes the last one wins.
#
#     driver solve ten --rules-program 'awk -W interactive -f ten.awk'
#
# With -W interactive, mawk reads a line as soon as it is there. Other versions of awk do so without it.

BEGIN { print "treereduce rules 1\nname ten\nbits 4\nstart 10\n"; fflush() }
/^$/ { print ""; fflush(); next }
$1 == 0 { print "lose"; next }
{ for (n = 1; n <= 3 && n <= $1; n++) printf "%s%d:%d", (n > 1 ? " " : ""), n, $1 - n; print "" }
