package aws

import (
	"context"
	"time"
)

// A Paginator is a paginator of the SDK.
type Paginator[Page, Options any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Options)) (Page, error)
}

// Pages calls do with each page of a list, until do returns an error.
func Pages[Page, Options any](ctx context.Context, list Paginator[Page, Options], do func(Page) error) error {
	for list.HasMorePages() {
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

// Sleep waits. It returns the error of the context if that is done first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
