#!/bin/sh
# make.sh [SUBNET] creates the roles of a cluster, or updates them, and tags the network of its
# nodes as Amazon's own policy of the service requires: the VPC of SUBNET with that subnet, or else
# the default VPC with all of its subnets, and the security groups that Amazon EMR has created
# there. user.json is for the user who runs driver: create a managed policy from it, and attach that
# to the user, group or permission set. It is too long for an inline policy of a user.
set -eu
cd "$(dirname "$0")"
place=@PLACE@
service=@SERVICE@
nodes=@NODES@

# role NAME TRUST OPTION creates or updates a role with this trust policy.
role() {
	if ! found=$(aws iam get-role --role-name "$1" --query "Role.Tags[?Key=='@TAG@'].Value | [0]" --output text 2>/dev/null); then
		aws iam create-role --role-name "$1" --assume-role-policy-document "file://$2" --tags "Key=@TAG@,Value=$place" >/dev/null
	elif [ "$found" != "$place" ]; then
		echo "make.sh: role $1 exists, but not for $place: driver-aws emr policies $3 names another" >&2
		exit 1
	else
		aws iam update-assume-role-policy --role-name "$1" --policy-document "file://$2"
	fi
}

role "$service" service-trust.json --service-role
aws iam attach-role-policy --role-name "$service" --policy-arn arn:@PARTITION@:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2
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
		echo "make.sh: there is no default VPC: name a subnet, make.sh SUBNET" >&2
		exit 1
	fi
	subnets=$(aws ec2 describe-subnets --filters "Name=vpc-id,Values=$vpc" --query 'Subnets[].SubnetId' --output text)
fi
groups=$(aws ec2 describe-security-groups --filters "Name=vpc-id,Values=$vpc" 'Name=group-name,Values=ElasticMapReduce-*' --query 'SecurityGroups[].GroupId' --output text)
aws ec2 create-tags --resources "$vpc" $subnets $groups --tags Key=@MANAGED@,Value=true
