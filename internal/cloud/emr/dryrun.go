package emr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Identifiers of the cluster and steps of a dry run.
const (
	dryID   = "j-DRYRUN"
	dryStep = "s-DRYRUN"
)

// A Call is a request of a dry run.
type Call struct {
	Service   string          // "emr"
	Operation string          // "RunJobFlow"
	Params    json.RawMessage `json:"Parameters"`            // in the form of boto3 and the SDKs
	Line      string          `json:"CommandLine,omitempty"` // the same request for the AWS command line; "" if it has no such command
}

// errDry stops a request of a dry run before it is signed.
var errDry = errors.New("a dry run")

// dry lets the SDK build a request, and passes it to Options.DryRun instead of sending it.
func (s *Service) dry(_ context.Context, operation, line string, send func(func(*emr.Options)) error) error {
	var body []byte
	err := send(func(o *emr.Options) {
		o.Retryer = aws.NopRetryer{}
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Serialize.Add(middleware.SerializeMiddlewareFunc("dry run", func(_ context.Context, in middleware.SerializeInput, _ middleware.SerializeHandler) (out middleware.SerializeOutput, m middleware.Metadata, err error) {
				r, ok := in.Request.(*smithyhttp.Request)
				if !ok {
					return out, m, fmt.Errorf("a request of %T", in.Request)
				}
				if body, err = io.ReadAll(r.GetStream()); err != nil {
					return out, m, err
				}
				return out, m, errDry
			}), middleware.After)
		})
	})
	if err == nil || !errors.Is(err, errDry) {
		return fmt.Errorf("%s: its request could not be written: %w", operation, err)
	}
	return s.o.DryRun(Call{Service: "emr", Operation: operation, Params: body, Line: line})
}

// nobody is the HTTP client of a dry run. It sends nothing.
type nobody struct{}

func (nobody) Do(*http.Request) (*http.Response, error) { return nil, errDry }

// plainWord matches a word that a shell does not need in quotes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// word returns text as a word of a shell command, with quotes if necessary.
func word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// words joins words to a shell command.
func words(all ...string) string {
	for i := range all {
		all[i] = word(all[i])
	}
	return strings.Join(all, " ")
}

// The AWS command line has its own forms: a type for each step, BidPrice for spot.
type (
	lineStep struct {
		Type, Name, ActionOnFailure, Jar string
		Args                             []string
	}
	lineGroup struct {
		Name, InstanceGroupType string
		InstanceType            string
		InstanceCount           int
		BidPrice                string `json:",omitempty"`
		EbsConfiguration        any    `json:",omitempty"`
	}
	lineVolume struct {
		VolumeType string
		SizeInGB   int
	}
	lineDevice struct {
		VolumeSpecification lineVolume
		VolumesPerInstance  int
	}
	lineDisk   struct{ EbsBlockDeviceConfigs []lineDevice }
	lineAction struct {
		Path, Name string
		Args       []string
	}
	lineConfiguration struct {
		Classification string
		Properties     map[string]string
	}
)

// asJSON returns a value of the command line as JSON. It cannot fail, because all such values
// can be encoded.
func asJSON(v any) string {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // it is for people
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// lineSteps converts steps to the form of the command line.
func lineSteps(steps []Step) (all []lineStep) {
	for i := range steps {
		c := steps[i].config()
		all = append(all, lineStep{"CUSTOM_JAR", *c.Name, string(c.ActionOnFailure), *c.HadoopJarStep.Jar, c.HadoopJarStep.Args})
	}
	return all
}

// addCommandLine returns the AWS command line for AddJobFlowSteps.
func addCommandLine(cluster string, steps []Step) string {
	return words("aws", "emr", "add-steps", "--cluster-id", cluster, "--steps", asJSON(lineSteps(steps)))
}

// CommandLine returns the AWS command that creates the cluster, on one line.
func (s *Spec) CommandLine() string {
	in, err := s.Request()
	if err != nil {
		return ""
	}
	line := []string{"aws", "emr", "create-cluster", "--name", s.Name, "--release-label", s.Release, "--applications", "Name=Hadoop",
		"--service-role", s.Service, "--scale-down-behavior", string(in.ScaleDownBehavior), "--no-termination-protected"}
	attributes := map[string]string{"InstanceProfile": s.Profile}
	if s.Subnet != "" {
		attributes["SubnetId"] = s.Subnet
	}
	if s.Key != "" {
		attributes["KeyName"] = s.Key
	}
	line = append(line, "--ec2-attributes", asJSON(attributes))
	var groups []lineGroup
	for _, g := range in.Instances.InstanceGroups {
		l := lineGroup{Name: *g.Name, InstanceGroupType: string(g.InstanceRole), InstanceType: *g.InstanceType, InstanceCount: int(*g.InstanceCount)}
		l.BidPrice = aws.ToString(g.BidPrice)
		if s.EBSGB > 0 {
			l.EbsConfiguration = lineDisk{[]lineDevice{{lineVolume{"gp3", s.EBSGB}, 1}}}
		}
		groups = append(groups, l)
	}
	line = append(line, "--instance-groups", asJSON(groups))
	if s.Keep {
		line = append(line, "--no-auto-terminate", "--auto-termination-policy", fmt.Sprintf("IdleTimeout=%d", *in.AutoTerminationPolicy.IdleTimeout))
	} else {
		line = append(line, "--auto-terminate")
	}
	if s.LogURI != "" {
		line = append(line, "--log-uri", s.LogURI)
	}
	var actions []lineAction
	for _, a := range in.BootstrapActions {
		actions = append(actions, lineAction{*a.ScriptBootstrapAction.Path, *a.Name, a.ScriptBootstrapAction.Args})
	}
	if len(actions) > 0 {
		line = append(line, "--bootstrap-actions", asJSON(actions))
	}
	var configurations []lineConfiguration
	for _, c := range in.Configurations {
		configurations = append(configurations, lineConfiguration{*c.Classification, c.Properties})
	}
	if len(configurations) > 0 {
		line = append(line, "--configurations", asJSON(configurations))
	}
	if len(in.Tags) > 0 {
		line = append(line, "--tags")
		for _, t := range in.Tags {
			line = append(line, *t.Key+"="+*t.Value)
		}
	}
	if len(s.Steps) > 0 {
		line = append(line, "--steps", asJSON(lineSteps(s.Steps)))
	}
	return words(line...)
}

// indented returns a value as indented JSON.
func indented(v any) []byte {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return []byte(err.Error())
	}
	return append(text, '\n')
}
