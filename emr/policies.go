package emr

import (
	"fmt"
	"strings"
)

// TagOfRun is the tag of a cluster that names what it was made for: the place in S3. The
// policy of the person who runs driver is bounded by it.
const TagOfRun = "treereduce"

// ManagedTag lets the service's own policy, AmazonEMRServicePolicy_v2, make instances for
// a cluster. The subnet must have it too.
const ManagedTag = "for-use-with-amazon-emr-managed-policies"

// A Grant is what its policies allow.
type Grant struct {
	Bucket  string // its name alone
	Prefix  string // within it; "": all of it
	Service string // the role of the service
	Profile string // the instance profile of the nodes, and its role
}

// A statement is one of a policy.
type statement struct {
	Sid       string `json:",omitempty"`
	Effect    string
	Principal map[string]string `json:",omitempty"`
	Action    []string
	Resource  any `json:",omitempty"`
	Condition any `json:",omitempty"`
}

// A policy is one in IAM's form.
type policy struct {
	Version   string
	Statement []statement
}

// Policies are the policies and roles that a run needs, and no more, as files, and
// make.sh, the calls that make them.
//
//	user.json            who runs driver: make clusters of these roles, follow and end
//	                     those that have the tag, read and write below the place in S3
//	service-trust.json   the service may take its role …
//	service.json         … and give the nodes theirs; the rest is AmazonEMRServicePolicy_v2
//	nodes-trust.json     EC2 may take the nodes' role …
//	nodes.json           … which reads and writes below the place in S3
func (g Grant) Policies() []File {
	allow := func(statements ...statement) []byte {
		for i := range statements {
			statements[i].Effect = "Allow"
		}
		return indented(policy{"2012-10-17", statements})
	}
	trust := func(service string) []byte {
		return allow(statement{Principal: map[string]string{"Service": service + ".amazonaws.com"}, Action: []string{"sts:AssumeRole"}})
	}
	role := func(name string) string { return "arn:aws:iam::*:role/" + name }
	passed := func(sid, name, to string) statement {
		return statement{Sid: sid, Action: []string{"iam:PassRole"}, Resource: role(name),
			Condition: map[string]any{"StringLike": map[string]string{"iam:PassedToService": to + ".amazonaws.com*"}}}
	}
	objects := statement{Sid: "Objects", Resource: "arn:aws:s3:::" + strings.TrimSuffix(g.Bucket+"/"+strings.Trim(g.Prefix, "/"), "/") + "/*",
		Action: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}}
	bucket := statement{Sid: "Bucket", Resource: "arn:aws:s3:::" + g.Bucket,
		Action: []string{"s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads"}}
	own := bucket
	own.Sid, own.Action = "OwnBucket", []string{"s3:CreateBucket", "s3:DeleteBucket"}
	// The tag is the bucket, or a place in it.
	tagged := func(which string) map[string]any {
		return map[string]any{"StringLike": map[string][]string{"elasticmapreduce:" + which + "/" + TagOfRun: {"s3://" + g.Bucket, "s3://" + g.Bucket + "/*"}}}
	}
	return []File{
		{"user.json", allow(
			statement{Sid: "Make", Resource: "*", Action: []string{"elasticmapreduce:RunJobFlow", "elasticmapreduce:ListClusters", "elasticmapreduce:PutAutoTerminationPolicy"}},
			statement{Sid: "Tag", Action: []string{"elasticmapreduce:AddTags"}, Resource: "*", Condition: tagged("RequestTag")},
			statement{Sid: "FollowAndEnd", Resource: "*", Condition: tagged("ResourceTag"), Action: []string{
				"elasticmapreduce:DescribeCluster", "elasticmapreduce:DescribeStep", "elasticmapreduce:ListSteps",
				"elasticmapreduce:AddJobFlowSteps", "elasticmapreduce:CancelSteps", "elasticmapreduce:TerminateJobFlows"}},
			passed("ServiceRole", g.Service, "elasticmapreduce"),
			passed("NodesRole", g.Profile, "ec2"),
			statement{Sid: "FirstTime", Action: []string{"iam:CreateServiceLinkedRole"}, Resource: "*",
				Condition: map[string]any{"StringEquals": map[string][]string{"iam:AWSServiceName": {"elasticmapreduce.amazonaws.com", "spot.amazonaws.com"}}}},
			bucket, own, objects,
		)},
		{"service-trust.json", trust("elasticmapreduce")},
		{"service.json", allow(passed("NodesRole", g.Profile, "ec2"))},
		{"nodes-trust.json", trust("ec2")},
		{"nodes.json", allow(bucket, objects)},
		{"make.sh", []byte(g.calls())},
	}
}

// calls are those of the AWS command line that make the roles of the files beside them.
func (g Grant) calls() string {
	service, profile := word(g.Service), word(g.Profile)
	return fmt.Sprintf(`#!/bin/sh
# Makes the roles of a cluster. user.json is for the person who runs driver: attach it to
# that user, group or permission set. The subnet needs the tag too:
#   aws ec2 create-tags --resources SUBNET --tags Key=%[3]s,Value=true
set -eu
cd "$(dirname "$0")"
aws iam create-role --role-name %[1]s --assume-role-policy-document file://service-trust.json
aws iam attach-role-policy --role-name %[1]s --policy-arn arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2
aws iam put-role-policy --role-name %[1]s --policy-name treereduce --policy-document file://service.json
aws iam create-role --role-name %[2]s --assume-role-policy-document file://nodes-trust.json
aws iam put-role-policy --role-name %[2]s --policy-name treereduce --policy-document file://nodes.json
aws iam create-instance-profile --instance-profile-name %[2]s
aws iam add-role-to-instance-profile --instance-profile-name %[2]s --role-name %[2]s
`, service, profile, ManagedTag)
}
