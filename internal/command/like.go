package command

import "github.com/xrash/smetrics"

// leastLike is the similarity above which a word is suggested.
const leastLike = 0.8

// Like returns the word of others that is most similar to word, by the measure that urfave/cli
// uses for its suggestions; "" if none is similar.
func Like(word string, others []string) string {
	best, most := "", leastLike
	for _, other := range others {
		if like := smetrics.JaroWinkler(word, other, 0.7, 4); like > most {
			best, most = other, like
		}
	}
	return best
}

// orLike returns the question whether the most similar of others was meant, with before in
// front of it; "" if none is similar.
func orLike(word string, others []string, before string) string {
	if like := Like(word, others); like != "" {
		return ": did you mean " + before + like + "?"
	}
	return ""
}
