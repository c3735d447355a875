package command

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/numfmt"
)

// AtLeast returns a usage error if a flag with one of these names is given and its number or
// duration is less than least.
func AtLeast(c *cli.Context, least int, names ...string) error {
	return inRange(c, names, fmt.Sprintf("%d or more", least), func(n float64) bool { return n >= float64(least) })
}

// Between is like AtLeast, but with a largest number, too.
func Between(c *cli.Context, least, most int, names ...string) error {
	return inRange(c, names, fmt.Sprintf("%d to %d", least, most), func(n float64) bool { return n >= float64(least) && n <= float64(most) })
}

// Positive is like AtLeast for values that must be more than 0.
func Positive(c *cli.Context, names ...string) error {
	return inRange(c, names, "more than 0", func(n float64) bool { return n > 0 })
}

// Size returns the size in bytes that a flag sets, more than 0; 0 if it is not given.
func Size(c *cli.Context, name string) (int64, error) {
	if !c.IsSet(name) {
		return 0, nil
	}
	n, err := numfmt.ParseSize(c.String(name))
	if err == nil && n == 0 {
		err = errors.New("expected more than 0")
	}
	if err != nil {
		return 0, Usagef("--%s: %w", name, err)
	}
	return n, nil
}

func inRange(c *cli.Context, names []string, expected string, in func(float64) bool) error {
	for _, name := range names {
		n := reflect.ValueOf(c.Value(name)).Convert(reflect.TypeFor[float64]()).Float()
		if c.IsSet(name) && (!in(n) || math.IsInf(n, 0)) {
			return Usagef("--%s %v: expected %s", name, c.Value(name), expected)
		}
	}
	return nil
}
