package aws

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// A Call is a request of a dry run.
type Call struct {
	Service   string // "emr"
	Operation string // "RunJobFlow"
	// Params is the request in the form of boto3 and the SDKs, without the content of objects.
	Params json.RawMessage `json:"Parameters"`
}

// DryRun returns a copy of a configuration whose clients send nothing. They pass each request
// that would change something to show, in place of sending it. results contains the result of
// each operation: a pointer to the output of the SDK, an error, or a function from the input to
// the output.
func DryRun(conf aws.Config, show func(Call) error, results map[string]any) aws.Config {
	var mu sync.Mutex // show is called for one request at a time
	answer := func(ctx context.Context, in middleware.InitializeInput, _ middleware.InitializeHandler) (out middleware.InitializeOutput, meta middleware.Metadata, err error) {
		operation := awsmiddleware.GetOperationName(ctx)
		if !slices.ContainsFunc([]string{"Describe", "Get", "Head", "List"}, func(reads string) bool { return strings.HasPrefix(operation, reads) }) {
			params, err := paramsOf(in.Parameters)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				err = show(Call{strings.ToLower(awsmiddleware.GetServiceID(ctx)), operation, params})
			}
			if err != nil {
				return out, meta, err
			}
		}
		switch result := results[operation].(type) {
		case nil:
			err = fmt.Errorf("a dry run has no result of %s", operation)
		case error:
			err = result
		case func(any) any:
			out.Result = result(in.Parameters)
		default: // a copy, because the SDK adds metadata to it
			own := reflect.New(reflect.TypeOf(result).Elem())
			own.Elem().Set(reflect.ValueOf(result).Elem())
			out.Result = own.Interface()
		}
		return out, meta, err
	}
	conf = conf.Copy()
	conf.APIOptions = append(conf.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("DryRun", answer), middleware.After)
	})
	return conf
}

// paramsOf returns the input of an operation as JSON.
func paramsOf(input any) (json.RawMessage, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	var params map[string]any
	if err := json.Unmarshal(text, &params); err != nil {
		return nil, err
	}
	delete(params, "Body")
	prune(params)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // people read it
	err = e.Encode(params)
	return bytes.TrimSpace(out.Bytes()), err
}

// prune deletes the members of objects that are not set.
func prune(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil || member == "" {
				delete(v, name)
			}
			prune(member)
		}
	case []any:
		for _, element := range v {
			prune(element)
		}
	}
}
