//go:build emr

package emr

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// makeBefore creates the account before make.sh: a role with the name that Amazon EMR gives
// its own, security groups of Amazon EMR and of another service, and a VPC in addition to the
// default one.
const makeBefore = `
import boto3
iam, ec2 = boto3.client("iam"), boto3.client("ec2")
iam.create_role(RoleName="EMR_DefaultRole", AssumeRolePolicyDocument="{}")
vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
ec2.create_security_group(GroupName="ElasticMapReduce-master", Description="d", VpcId=vpc)
ec2.create_security_group(GroupName="web", Description="d", VpcId=vpc)
other = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
print(ec2.create_subnet(VpcId=other, CidrBlock="10.1.0.0/24")["Subnet"]["SubnetId"], end="")
`

// makeState prints what make.sh creates: roles and profiles, a blank line, and the tagged
// resources.
const makeState = `
import boto3, sys
iam, ec2 = boto3.client("iam"), boto3.client("ec2")
for role in sorted(iam.list_roles()["Roles"], key=lambda r: r["RoleName"]):
    name = role["RoleName"]
    print("role", name, iam.list_role_tags(RoleName=name)["Tags"], role["AssumeRolePolicyDocument"])
    print("attached", [p["PolicyArn"] for p in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]])
    for p in iam.list_role_policies(RoleName=name)["PolicyNames"]:
        print("policy", iam.get_role_policy(RoleName=name, PolicyName=p)["PolicyDocument"])
for p in iam.list_instance_profiles()["InstanceProfiles"]:
    print("profile", p["InstanceProfileName"], [r["RoleName"] for r in p["Roles"]])
print()
names = {g["GroupId"]: g["GroupName"] for g in ec2.describe_security_groups()["SecurityGroups"]}
names |= {v["VpcId"]: "default" if v["IsDefault"] else "other" for v in ec2.describe_vpcs()["Vpcs"]}
names |= {s["SubnetId"]: names[s["VpcId"]] for s in ec2.describe_subnets()["Subnets"]}
for t in sorted({(t["ResourceType"], names[t["ResourceId"]], t["Value"]) for t in ec2.describe_tags(Filters=[{"Name": "key", "Values": [sys.argv[1]]}])["Tags"]}):
    print(*t)
`

// TestMotoMakeTwice runs make.sh twice against moto, and checks the account after each run. Each
// call of the AWS command line takes a second or more.
func TestMotoMakeTwice(t *testing.T) {
	longtest.Share(t)
	t.Setenv("MOTO_IAM_LOAD_MANAGED_POLICIES", "true")
	server := s3test.Start(t)
	bin := s3test.Bin(t)
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = "/"
		cmd.Env = append(server.Env(), "AWS_ENDPOINT_URL="+server.URL, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	python := func(args ...string) string {
		t.Helper()
		out, err := run(filepath.Join(bin, "python"), append([]string{"-c"}, args...)...)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return out
	}
	makeSh := func(g Grant, words ...string) (string, error) {
		t.Helper()
		dir := t.TempDir()
		for name, text := range policies(t, g) {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777))
		}
		return run("sh", append([]string{filepath.Join(dir, "make.sh")}, words...)...)
	}
	subnet := python(makeBefore)
	g := Grant{Bucket: "bucket", Prefix: "games", Service: DefaultService, Profile: DefaultProfile}
	if out, err := makeSh(g); err != nil || out != "" {
		t.Fatalf("make.sh: %v: %s", err, out)
	}
	roles, tags, _ := strings.Cut(python(makeState, ManagedTag), "\n\n")
	for _, want := range []string{
		"role EMR_DefaultRole [] {}\nattached []\n", // unchanged
		"role treereduce-emr-nodes [{'Key': 'treereduce', 'Value': 's3://bucket/games'}]", "'ec2.amazonaws.com'",
		"role treereduce-emr-service [{'Key': 'treereduce', 'Value': 's3://bucket/games'}]", "'elasticmapreduce.amazonaws.com'",
		"attached ['arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2']", "'iam:PassRole'", "'Sid': 'Objects'",
		"profile treereduce-emr-nodes ['treereduce-emr-nodes']",
	} {
		if !strings.Contains(roles, want) {
			t.Errorf("%s is missing:\n%s", want, roles)
		}
	}
	if want := "security-group ElasticMapReduce-master true\nsubnet default true\nvpc default true"; tags != want {
		t.Errorf("tagged:\n%s\nwant\n%s", tags, want)
	}
	if out, err := makeSh(g, subnet); err != nil || out != "" {
		t.Fatalf("make.sh again: %v: %s", err, out)
	}
	again, tags, _ := strings.Cut(python(makeState, ManagedTag), "\n\n")
	if again != roles {
		t.Errorf("after the second run:\n%s\nafter the first:\n%s", again, roles)
	}
	if want := "security-group ElasticMapReduce-master true\nsubnet default true\nsubnet other true\nvpc default true\nvpc other true"; tags != want {
		t.Errorf("tagged after the second run:\n%s\nwant\n%s", tags, want)
	}
	// A role for another path, or of another program, is refused.
	other, foreign := g, g
	other.Bucket, foreign.Service = "other", "EMR_DefaultRole"
	for _, g := range []Grant{other, foreign} {
		if out, err := makeSh(g); err == nil || out != "make.sh: role "+g.Service+" exists, but not for "+g.place()+": driver-aws emr policies --service-role names another" {
			t.Errorf("%+v: %v: %s", g, err, out)
		}
	}
	if last, _, _ := strings.Cut(python(makeState, ManagedTag), "\n\n"); last != roles {
		t.Errorf("after a refusal:\n%s", last)
	}
}
