package command

// Like is the word among others that is most like one; "" if none is. No more than a third
// of its letters may be wrong: another letter, one too many or too few, or two that have
// changed places.
func Like(word string, others []string) string {
	best, least := "", len(word)/3+1
	for _, other := range others {
		if n := distance(word, other); n < least {
			best, least = other, n
		}
	}
	return best
}

// distance is how many letters must be changed to make b of a.
func distance(a, b string) int {
	rows := [3][]int{} // of the letters of a up to two before, one before, and this
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	for j := range rows[2] {
		rows[2][j] = j
	}
	for i := range len(a) {
		rows[0], rows[1], rows[2] = rows[1], rows[2], rows[0]
		now, before := rows[2], rows[1]
		now[0] = i + 1
		for j := range len(b) {
			same := 1
			if a[i] == b[j] {
				same = 0
			}
			now[j+1] = min(before[j+1]+1, now[j]+1, before[j]+same)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], rows[0][j-1]+1)
			}
		}
	}
	return rows[2][len(b)]
}
