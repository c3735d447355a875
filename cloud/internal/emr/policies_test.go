package emr

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// strs contains the values of an element of a policy: one string, or several.
type strs []string

func (s *strs) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*s = strs{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(s))
}

// like reports whether a pattern matches text: * matches any characters, ? any single one.
func (s strs) like(text string) bool {
	for _, p := range s {
		p = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(p))
		if regexp.MustCompile("^" + p + "$").MatchString(text) {
			return true
		}
	}
	return false
}

// A statement is a statement of a policy.
type statement struct {
	Sid, Effect      string
	Action, Resource strs
	Condition        map[string]map[string]strs
}

// statementsOf returns the statements of a policy.
func statementsOf(t *testing.T, policy string) []statement {
	t.Helper()
	var p struct{ Statement []statement }
	must.OK(t, json.Unmarshal([]byte(policy), &p))
	return p.Statement
}

// allowed evaluates a policy like IAM, as far as our statements need it: they are all Allow
// statements, and all conditions are StringLike.
func allowed(t *testing.T, policy, action, resource string, context map[string]string) bool {
	t.Helper()
	sids := make(map[string]bool)
	for _, s := range statementsOf(t, policy) {
		if s.Sid != "" && sids[s.Sid] {
			t.Fatalf("two statements %s, which IAM refuses", s.Sid)
		}
		sids[s.Sid] = true
	}
	for _, s := range statementsOf(t, policy) {
		ok := s.Action.like(action) && s.Resource.like(resource)
		for operator, keys := range s.Condition {
			if operator != "StringLike" || s.Effect != "Allow" {
				t.Fatalf("%s %s: no such operator here", s.Effect, operator)
			}
			for key, values := range keys {
				value, has := context[key]
				ok = ok && has && values.like(value)
			}
		}
		if ok {
			return true
		}
	}
	return false
}

// policies returns the policies of a grant by name.
func policies(t *testing.T, g Grant) map[string]string {
	t.Helper()
	files, err := g.Policies()
	must.OK(t, err)
	texts := make(map[string]string)
	for _, f := range files {
		texts[f.Name] = string(f.Content)
	}
	return texts
}

// TestPolicies evaluates requests: those that the programs send, and those of an attacker. A policy
// contains no action but those of the requests that it allows.
func TestPolicies(t *testing.T) {
	const (
		user, nodes, service = "user.json", "nodes.json", "service.json"
		request, resource    = "elasticmapreduce:RequestTag/treereduce", "elasticmapreduce:ResourceTag/treereduce"
		// the resource in the RunJobFlow permissions for the tags of a new cluster
		anew    = "arn:aws:elasticmapreduce:eu-west-1:1:cluster/*"
		cluster = "arn:aws:elasticmapreduce:eu-west-1:1:cluster/j-2AXXXXXXGAPLF"
		role    = "arn:aws:iam::1:role/"
		b       = "arn:aws:s3:::b"
		key     = "arn:aws:kms:eu-west-1:1:key/k"
	)
	type ctx = map[string]string
	to := func(service string) ctx { return ctx{"iam:PassedToService": service} }
	prefix := func(p string) ctx { return ctx{"s3:prefix": p} }
	kms := func(via, arn string) ctx {
		return ctx{"kms:ViaService": via, "kms:EncryptionContext:aws:s3:arn": arn}
	}
	texts := policies(t, Grant{Bucket: "b", Prefix: "/p/q/", Service: "S", Profile: "N"})
	needed := make(map[string]strs)
	for _, test := range []struct {
		who, action, resource string
		context               ctx
		want                  bool
	}{
		{user, "elasticmapreduce:ListClusters", "*", nil, true},
		{user, "elasticmapreduce:RunJobFlow", anew, ctx{request: "s3://b/p/q"}, true},
		{user, "elasticmapreduce:RunJobFlow", anew, ctx{request: "s3://b/p/q/six-five"}, true},
		{user, "elasticmapreduce:AddTags", anew, ctx{request: "s3://b/p/q"}, true},
		{user, "elasticmapreduce:PutAutoTerminationPolicy", anew, nil, true},
		{user, "elasticmapreduce:RunJobFlow", anew, nil, false},
		{user, "elasticmapreduce:RunJobFlow", anew, ctx{request: "x"}, false},
		{user, "elasticmapreduce:RunJobFlow", anew, ctx{request: "s3://b/p"}, false},
		{user, "elasticmapreduce:RunJobFlow", anew, ctx{request: "s3://b/p/qq"}, false},
		// A user who could tag another user's cluster could control it.
		{user, "elasticmapreduce:AddTags", cluster, ctx{request: "s3://b/p/q"}, false},
		{user, "elasticmapreduce:AddTags", cluster, ctx{request: "s3://b/p/q", resource: "x"}, false},
		{user, "elasticmapreduce:RemoveTags", cluster, ctx{resource: "s3://b/p/q"}, false},
		// An idle time of one minute would terminate the cluster.
		{user, "elasticmapreduce:PutAutoTerminationPolicy", cluster, nil, false},
		{user, "elasticmapreduce:PutAutoTerminationPolicy", cluster, ctx{resource: "s3://b/p/q"}, true},
		{user, "elasticmapreduce:DescribeCluster", cluster, ctx{resource: "s3://b/p/q/x"}, true},
		{user, "elasticmapreduce:DescribeStep", cluster, ctx{resource: "s3://b/p/q/x"}, true},
		{user, "elasticmapreduce:ListSteps", cluster, ctx{resource: "s3://b/p/q/x"}, true},
		{user, "elasticmapreduce:AddJobFlowSteps", cluster, ctx{resource: "s3://b/p/q/x"}, true},
		{user, "elasticmapreduce:CancelSteps", cluster, ctx{resource: "s3://b/p/q/x"}, true},
		{user, "elasticmapreduce:TerminateJobFlows", cluster, ctx{resource: "s3://b/p/q/x"}, true},
		{user, "elasticmapreduce:DescribeCluster", cluster, nil, false},
		{user, "elasticmapreduce:AddJobFlowSteps", cluster, nil, false},
		{user, "elasticmapreduce:AddJobFlowSteps", cluster, ctx{resource: "s3://b/other"}, false},
		{user, "elasticmapreduce:TerminateJobFlows", cluster, ctx{request: "s3://b/p/q"}, false},
		{user, "elasticmapreduce:SetTerminationProtection", cluster, ctx{resource: "s3://b/p/q"}, false},
		{user, "iam:PassRole", role + "S", to("elasticmapreduce.amazonaws.com"), true},
		{user, "iam:PassRole", role + "N", to("ec2.amazonaws.com"), true},
		{user, "iam:PassRole", role + "N", to("lambda.amazonaws.com"), false},
		{user, "iam:PassRole", role + "S", to("ec2.amazonaws.com"), false},
		{user, "iam:PassRole", role + "Admin", to("ec2.amazonaws.com"), false},
		{user, "iam:PassRole", role + "N", nil, false},
		{user, "iam:CreateServiceLinkedRole", role + "x", ctx{"iam:AWSServiceName": "spot.amazonaws.com"}, true},
		{user, "iam:CreateServiceLinkedRole", role + "x", ctx{"iam:AWSServiceName": "ecs.amazonaws.com"}, false},
		{user, "iam:CreateRole", role + "x", nil, false},
		{user, "s3:ListBucket", b, prefix("p/q/"), true},
		{user, "s3:ListBucket", b, prefix("p/q/x/table/"), true},
		{user, "s3:ListBucket", b, nil, false},
		{user, "s3:ListBucket", b, prefix(""), false},
		{user, "s3:ListBucket", b, prefix("p/"), false},
		{user, "s3:ListBucket", b, prefix("p/qq/"), false},
		{user, "s3:ListBucket", b + "2", prefix("p/q/"), false},
		{user, "s3:GetBucketLocation", b, nil, true},
		{user, "s3:ListBucketMultipartUploads", b, nil, true},
		{user, "s3:CreateBucket", b, nil, true},
		{user, "s3:PutLifecycleConfiguration", b, nil, true},
		{user, "s3:DeleteBucket", b, nil, true},
		{user, "s3:DeleteBucket", b + "2", nil, false},
		{user, "s3:PutBucketPolicy", b, nil, false},
		{user, "s3:GetObject", b + "/p/q/x/table/tier-00.blocks", nil, true},
		{user, "s3:PutObject", b + "/p/q/x/_owner", nil, true},
		{user, "s3:DeleteObject", b + "/p/q/x/_owner", nil, true},
		{user, "s3:AbortMultipartUpload", b + "/p/q/x/_owner", nil, true},
		{user, "s3:ListMultipartUploadParts", b + "/p/q/x/_owner", nil, true},
		{user, "s3:GetObject", b + "/p/qq/x", nil, false},
		{user, "s3:DeleteObject", b + "/x", nil, false},
		{user, "s3:PutObjectAcl", b + "/p/q/x", nil, false},
		{user, "kms:Decrypt", key, kms("s3.eu-west-1.amazonaws.com", b+"/p/q/x"), true},
		{user, "kms:GenerateDataKey", key, kms("s3.eu-west-1.amazonaws.com", b), true},
		{user, "kms:Decrypt", key, nil, false},
		{user, "kms:Decrypt", key, kms("ebs.eu-west-1.amazonaws.com", b), false},
		{user, "kms:Decrypt", key, kms("s3.eu-west-1.amazonaws.com", b+"/other"), false},
		{user, "kms:CreateGrant", key, kms("s3.eu-west-1.amazonaws.com", b), false},

		{nodes, "s3:ListBucket", b, nil, true}, // see Policies
		{nodes, "s3:GetObject", b + "/p/q/bin/x/driver", nil, true},
		{nodes, "s3:PutObject", b + "/p/q/logs/j-A/x.gz", nil, true},
		{nodes, "s3:GetBucketLocation", b, nil, true},
		{nodes, "s3:ListBucketMultipartUploads", b, nil, true},
		{nodes, "s3:DeleteObject", b + "/p/q/x/_owner", nil, true},
		{nodes, "s3:AbortMultipartUpload", b + "/p/q/x/table/t", nil, true},
		{nodes, "s3:ListMultipartUploadParts", b + "/p/q/x/table/t", nil, true},
		{nodes, "s3:GetObject", b + "/x", nil, false},
		{nodes, "s3:DeleteBucket", b, nil, false},
		{nodes, "kms:Decrypt", key, kms("s3.eu-west-1.amazonaws.com", b+"/p/q/x"), true},
		{nodes, "kms:GenerateDataKey", key, kms("s3.eu-west-1.amazonaws.com", b+"/p/q/x"), true},
		{nodes, "elasticmapreduce:TerminateJobFlows", cluster, ctx{resource: "s3://b/p/q"}, false},
		{nodes, "iam:PassRole", role + "N", to("ec2.amazonaws.com"), false},

		{service, "iam:PassRole", role + "N", to("ec2.amazonaws.com"), true},
		{service, "iam:PassRole", role + "Admin", to("ec2.amazonaws.com"), false},
		{service, "s3:GetObject", b + "/p/q/x", nil, false},
	} {
		if got := allowed(t, texts[test.who], test.action, test.resource, test.context); got != test.want {
			t.Errorf("%s: %s of %s with %v: allowed %v, want %v", test.who, test.action, test.resource, test.context, got, test.want)
		}
		if test.want {
			needed[test.who] = append(needed[test.who], test.action)
		}
	}
	for who, actions := range needed {
		for _, s := range statementsOf(t, texts[who]) {
			for _, action := range s.Action {
				if !slices.Contains(actions, action) {
					t.Errorf("%s allows %s, which no request needs", who, action)
				}
			}
		}
	}
	all := policies(t, Grant{Bucket: "b", Service: "S", Profile: "N"})[user]
	if !allowed(t, all, "s3:ListBucket", b, nil) || !allowed(t, all, "s3:GetObject", b+"/x", nil) ||
		!allowed(t, all, "elasticmapreduce:RunJobFlow", anew, ctx{request: "s3://b"}) || allowed(t, all, "elasticmapreduce:RunJobFlow", anew, ctx{request: "s3://bb"}) {
		t.Errorf("without a prefix: %s", all)
	}
}

// TestPolicySize checks that IAM accepts the policies, whatever the names: a managed policy
// may have up to 6,144 characters, without white space.
func TestPolicySize(t *testing.T) {
	long := strings.Repeat("x", 64)
	for name, text := range policies(t, Grant{Bucket: long[:63], Prefix: long + "/" + long, Region: "us-gov-west-1", Service: long, Profile: long}) {
		if n := len(strings.Join(strings.Fields(text), "")); strings.HasSuffix(name, ".json") && n > 6144 {
			t.Errorf("%s: %d characters", name, n)
		}
	}
}

// TestPartitions checks that ARNs and services are those of the region's partition.
func TestPartitions(t *testing.T) {
	for region, want := range map[string][2]string{
		"": {"arn:aws:", "ec2.amazonaws.com"}, "eu-central-1": {"arn:aws:", "ec2.amazonaws.com"},
		"cn-north-1": {"arn:aws-cn:", "ec2.amazonaws.com.cn"}, "us-gov-west-1": {"arn:aws-us-gov:", "ec2.amazonaws.com"},
	} {
		texts := policies(t, Grant{Bucket: "b", Region: region, Service: "S", Profile: "N"})
		for name, text := range texts {
			for _, arn := range regexp.MustCompile(`arn:[^:]*:`).FindAllString(text, -1) {
				if arn != want[0] {
					t.Errorf("region %q, %s: an ARN of %s, want %s", region, name, arn, want[0])
				}
			}
		}
		if !strings.Contains(texts["nodes-trust.json"], `"`+want[1]+`"`) {
			t.Errorf("region %q: %s", region, texts["nodes-trust.json"])
		}
	}
	if _, err := (Grant{Bucket: "b", Region: "us-iso-east-1"}).Policies(); err == nil || !strings.Contains(err.Error(), "region us-iso-east-1: ") {
		t.Error(err)
	}
}

// TestMakeSyntax checks that the shell can parse make.sh, whatever the names of the roles.
func TestMakeSyntax(t *testing.T) {
	text := policies(t, Grant{Bucket: "b", Service: "role of it's own", Profile: "P"})["make.sh"]
	sh := exec.Command("sh", "-n")
	sh.Stdin = strings.NewReader(text)
	if out, err := sh.CombinedOutput(); err != nil || !strings.Contains(text, `service='role of it'\''s own'`) {
		t.Errorf("make.sh: %v, %s", err, out)
	}
}
