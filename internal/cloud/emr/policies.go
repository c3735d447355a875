package emr

import (
	"encoding/json"
	"fmt"
	"strings"
)

// TagOfRun is the tag of a cluster that contains the S3 path that it was created for. The
// policy of the user who runs driver is limited to clusters with this tag.
const TagOfRun = "treereduce"

// ManagedTag is the tag with which the service's own policy, AmazonEMRServicePolicy_v2, allows
// it to create the instances of a cluster. The subnet and its VPC need this tag too.
const ManagedTag = "for-use-with-amazon-emr-managed-policies"

// A Grant describes what its policies allow.
type Grant struct {
	Bucket  string // name of the bucket
	Prefix  string // directory in the bucket; "": the complete bucket
	Region  string // determines the partition of ARNs; "": the partition of most regions
	Service string // the role of the service
	Profile string // instance profile of the nodes, and its role
}

// place returns the S3 path, which is also the value of TagOfRun.
func (g Grant) place() string {
	return strings.TrimSuffix("s3://"+g.Bucket+"/"+strings.Trim(g.Prefix, "/"), "/")
}

// partition returns the partition of the region in ARNs, and the domain of its services.
func (g Grant) partition() (name, suffix string, err error) {
	switch {
	case strings.HasPrefix(g.Region, "cn-"):
		return "aws-cn", "amazonaws.com.cn", nil
	case strings.HasPrefix(g.Region, "us-gov-"):
		return "aws-us-gov", "amazonaws.com", nil
	case strings.Contains(g.Region, "-iso") || strings.HasPrefix(g.Region, "eusc-"):
		return "", "", fmt.Errorf("region %s: policies are known for the partitions aws, aws-cn and aws-us-gov alone", g.Region)
	}
	return "aws", "amazonaws.com", nil
}

// A statement is a statement of an IAM policy.
type statement struct {
	Sid       string `json:",omitempty"`
	Effect    string
	Principal map[string]string `json:",omitempty"`
	Action    []string
	Resource  any `json:",omitempty"`
	Condition any `json:",omitempty"`
}

// A policy is an IAM policy.
type policy struct {
	Version   string
	Statement []statement
}

// Policies returns, as files, the policies and roles that a run needs, with no further
// permissions, and make.sh, a script that creates them.
//
//	user.json            the user who runs driver: may create clusters with these roles and
//	                     the tag, follow and terminate clusters with the tag, and read and
//	                     write below the S3 path
//	service-trust.json   the service may assume its role …
//	service.json         … and pass the nodes' role to them; AmazonEMRServicePolicy_v2
//	                     allows the rest
//	nodes-trust.json     EC2 may assume the nodes' role …
//	nodes.json           … which may read and write below the S3 path
func (g Grant) Policies() ([]File, error) {
	partition, suffix, err := g.partition()
	if err != nil {
		return nil, err
	}
	allow := func(statements ...statement) []byte {
		for i := range statements {
			statements[i].Effect = "Allow"
		}
		text, err := json.MarshalIndent(policy{"2012-10-17", statements}, "", "  ")
		if err != nil { // none of these types fails
			return []byte(err.Error())
		}
		return append(text, '\n')
	}
	trust := func(service string) []byte {
		return allow(statement{Principal: map[string]string{"Service": service + "." + suffix}, Action: []string{"sts:AssumeRole"}})
	}
	arn := func(rest string) string { return "arn:" + partition + ":" + rest }
	passed := func(sid, name, to string) statement {
		return statement{Sid: sid, Action: []string{"iam:PassRole"}, Resource: arn("iam::*:role/" + name),
			Condition: map[string]any{"StringLike": map[string]string{"iam:PassedToService": to + ".amazonaws.com*"}}}
	}
	bucketARN := arn("s3:::" + g.Bucket)
	below := strings.TrimSuffix(bucketARN+"/"+strings.Trim(g.Prefix, "/"), "/") + "/*"
	objects := statement{Sid: "Objects", Resource: below,
		Action: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}}
	// For objects that are encrypted with a KMS key: the key may be used only through S3 and
	// only for these objects. If the bucket has a bucket key, the encryption context is the
	// bucket.
	keys := statement{Sid: "Keys", Resource: "*", Action: []string{"kms:Decrypt", "kms:GenerateDataKey"},
		Condition: map[string]any{"StringLike": map[string][]string{"kms:ViaService": {"s3.*." + suffix}, "kms:EncryptionContext:aws:s3:arn": {bucketARN, below}}}}
	bucket := statement{Sid: "Bucket", Resource: bucketARN, Action: []string{"s3:GetBucketLocation", "s3:ListBucketMultipartUploads"}}
	// The nodes may list the complete bucket: to a caller who may list only a prefix, S3
	// answers 403 for a missing object, which Hadoop treats as a failure. Our own client then
	// lists the key, so the user needs only the prefix.
	list, listAll := bucket, bucket
	list.Sid, list.Action = "ListObjects", []string{"s3:ListBucket"}
	listAll.Sid, listAll.Action = list.Sid, list.Action
	if prefix := strings.Trim(g.Prefix, "/"); prefix != "" {
		list.Condition = map[string]any{"StringLike": map[string][]string{"s3:prefix": {prefix + "/*"}}}
	}
	own := bucket
	own.Sid, own.Action = "OwnBucket", []string{"s3:CreateBucket", "s3:DeleteBucket", "s3:PutLifecycleConfiguration"}
	// The value of the tag is the S3 path, or a path below it.
	tagged := func(which string) map[string]any {
		return map[string]any{"StringLike": map[string][]string{"elasticmapreduce:" + which + "/" + TagOfRun: {g.place(), g.place() + "/*"}}}
	}
	clusters := arn("elasticmapreduce:*:*:cluster/")
	return []File{
		{"user.json", allow(
			statement{Sid: "ListClusters", Resource: "*", Action: []string{"elasticmapreduce:ListClusters"}},
			statement{Sid: "Make", Resource: "*", Condition: tagged("RequestTag"), Action: []string{"elasticmapreduce:RunJobFlow"}},
			// RunJobFlow requires these permissions for the resource cluster/*, with a literal
			// asterisk. The pattern ? matches it, but matches no existing cluster, because
			// their identifiers are longer. With cluster/* here, the user could tag any
			// cluster, and would then have control of it.
			statement{Sid: "MakeWith", Resource: clusters + "?", Action: []string{"elasticmapreduce:AddTags", "elasticmapreduce:PutAutoTerminationPolicy"}},
			statement{Sid: "FollowAndEnd", Resource: clusters + "*", Condition: tagged("ResourceTag"), Action: []string{
				"elasticmapreduce:DescribeCluster", "elasticmapreduce:DescribeStep", "elasticmapreduce:ListSteps",
				"elasticmapreduce:AddJobFlowSteps", "elasticmapreduce:CancelSteps", "elasticmapreduce:TerminateJobFlows",
				"elasticmapreduce:PutAutoTerminationPolicy"}},
			passed("ServiceRole", g.Service, "elasticmapreduce"),
			passed("NodesRole", g.Profile, "ec2"),
			statement{Sid: "FirstTime", Action: []string{"iam:CreateServiceLinkedRole"}, Resource: "*",
				Condition: map[string]any{"StringLike": map[string][]string{"iam:AWSServiceName": {"elasticmapreduce.amazonaws.com*", "spot.amazonaws.com*"}}}},
			list, bucket, own, objects, keys,
		)},
		{"service-trust.json", trust("elasticmapreduce")},
		{"service.json", allow(passed("NodesRole", g.Profile, "ec2"))},
		{"nodes-trust.json", trust("ec2")},
		{"nodes.json", allow(listAll, bucket, objects, keys)},
		{"make.sh", []byte(g.calls(arn("iam::aws:policy/service-role/AmazonEMRServicePolicy_v2")))},
	}, nil
}

// calls returns make.sh: the AWS command lines that create the roles from the files in the
// same directory. It can run again, to update existing roles, but does not change a role for
// another S3 path.
func (g Grant) calls(managed string) string {
	return fmt.Sprintf(`#!/bin/sh
# make.sh [SUBNET]: makes the roles of a cluster, or brings them up to date, and tags the
# network of its nodes as Amazon's own policy of the service wants it: the VPC of SUBNET with
# that subnet, or else the default VPC with all of its subnets, and the security groups that
# Amazon EMR has made there. user.json is for the person who runs driver: make a managed
# policy of it, and attach that to the user, group or permission set. As an inline policy of a
# user it is too long for IAM.
set -eu
cd "$(dirname "$0")"
place=%[1]s
service=%[2]s
nodes=%[3]s

# role NAME TRUST OPTION: a role of ours, with that trust.
role() {
	if ! found=$(aws iam get-role --role-name "$1" --query "Role.Tags[?Key=='%[4]s'].Value | [0]" --output text 2>/dev/null); then
		aws iam create-role --role-name "$1" --assume-role-policy-document "file://$2" --tags "Key=%[4]s,Value=$place" >/dev/null
	elif [ "$found" != "$place" ]; then
		echo "make.sh: role $1 exists, but not for $place: driver-aws emr policies $3 names another" >&2
		exit 1
	else
		aws iam update-assume-role-policy --role-name "$1" --policy-document "file://$2"
	fi
}

role "$service" service-trust.json --service-role
aws iam attach-role-policy --role-name "$service" --policy-arn %[5]s
aws iam put-role-policy --role-name "$service" --policy-name treereduce --policy-document file://service.json
role "$nodes" nodes-trust.json --instance-profile
aws iam put-role-policy --role-name "$nodes" --policy-name treereduce --policy-document file://nodes.json
if ! has=$(aws iam get-instance-profile --instance-profile-name "$nodes" --query 'InstanceProfile.Roles[].RoleName' --output text 2>/dev/null); then
	aws iam create-instance-profile --instance-profile-name "$nodes" >/dev/null
	has=
fi
if [ "$has" != "$nodes" ]; then
	aws iam add-role-to-instance-profile --instance-profile-name "$nodes" --role-name "$nodes"
fi

if [ $# -gt 0 ]; then
	vpc=$(aws ec2 describe-subnets --subnet-ids "$1" --query 'Subnets[0].VpcId' --output text)
	subnets=$1
else
	vpc=$(aws ec2 describe-vpcs --filters Name=is-default,Values=true --query 'Vpcs[0].VpcId' --output text)
	if [ "$vpc" = None ]; then
		echo "make.sh: there is no default VPC: make.sh SUBNET" >&2
		exit 1
	fi
	subnets=$(aws ec2 describe-subnets --filters "Name=vpc-id,Values=$vpc" --query 'Subnets[].SubnetId' --output text)
fi
groups=$(aws ec2 describe-security-groups --filters "Name=vpc-id,Values=$vpc" 'Name=group-name,Values=ElasticMapReduce-*' --query 'SecurityGroups[].GroupId' --output text)
aws ec2 create-tags --resources "$vpc" $subnets $groups --tags Key=%[6]s,Value=true
`, word(g.place()), word(g.Service), word(g.Profile), TagOfRun, managed, ManagedTag)
}
