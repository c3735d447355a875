package command

import (
	"fmt"

	"github.com/xrash/smetrics"
)

// leastLike is the similarity from which a word is suggested in place of another.
const leastLike = 0.8

// Like is the word among others that is most similar to a word, by the measure that
// urfave/cli uses for its suggestions; "" if none is similar.
func Like(word string, others []string) string {
	best, most := "", leastLike
	for _, other := range others {
		if like := smetrics.JaroWinkler(word, other, 0.7, 4); like > most {
			best, most = other, like
		}
	}
	return best
}

// orLike asks whether the most similar of other words was meant, with the text before
// in front of it; "" if none is similar.
func orLike(word string, others []string, before string) string {
	if like := Like(word, others); like != "" {
		return fmt.Sprintf(": did you mean %s%s?", before, like)
	}
	return ""
}
