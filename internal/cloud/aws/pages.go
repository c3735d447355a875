package aws

import (
	"context"
	"fmt"
)

// MaxPages bounds the number of pages of a list: a million keys in S3. Without it, a server that
// always names a next page would cause an endless loop.
const MaxPages = 1000

// ErrEndless is the error for a list with more than MaxPages pages.
var ErrEndless = fmt.Errorf("the list has more than %d pages", MaxPages)

// A Paginator is a paginator of the SDK.
type Paginator[Page, Options any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Options)) (Page, error)
}

// Pages calls do with each page of a list, until do returns an error.
func Pages[Page, Options any](ctx context.Context, list Paginator[Page, Options], do func(Page) error) error {
	for n := 0; list.HasMorePages(); n++ {
		if n == MaxPages {
			return ErrEndless
		}
		page, err := list.NextPage(ctx)
		if err == nil {
			err = do(page)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
