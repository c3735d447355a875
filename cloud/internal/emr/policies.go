package emr

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
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
		return "", "", fmt.Errorf("region %s: policies are available only for the partitions aws, aws-cn and aws-us-gov", g.Region)
	}
	return "aws", "amazonaws.com", nil
}

// templates are the files of Policies, with words between @ signs for what a Grant decides.
//
//go:embed policies
var templates embed.FS

// Policies returns, as files, the policies and roles that a run needs, with no further
// permissions, and make.sh, a script that creates them. The script can run again, to update
// existing roles, but does not change a role for another S3 path.
//
//	user.json            the user who runs driver: may create clusters with these roles and
//	                     the tag, follow and terminate clusters with the tag, and read and
//	                     write below the S3 path
//	service-trust.json   the service may assume its role …
//	service.json         … and pass the nodes' role to them; AmazonEMRServicePolicy_v2
//	                     allows the rest
//	nodes-trust.json     EC2 may assume the nodes' role …
//	nodes.json           … which may read and write below the S3 path
//
// The statements that are not obvious:
//
//   - MakeWith: RunJobFlow requires these permissions for the resource cluster/*, with a literal
//     asterisk. The pattern ? matches it, but matches no existing cluster, because their
//     identifiers are longer. With cluster/* here, the user could tag any cluster, and would then
//     have control of it.
//   - The value of the tag is the S3 path, or a path below it.
//   - ListObjects: the nodes may list the complete bucket: to a caller who may list only a prefix,
//     S3 answers 403 for a missing object, which Hadoop treats as a failure. Our own client then
//     lists the key, so the user needs only the prefix.
//   - Keys, for objects that are encrypted with a KMS key: the key may be used only through S3 and
//     only for these objects. If the bucket has a bucket key, the encryption context is the bucket.
func (g Grant) Policies() (files []File, err error) {
	partition, domain, err := g.partition()
	if err != nil {
		return nil, err
	}
	prefix, listed := strings.Trim(g.Prefix, "/"), ""
	if prefix != "" {
		listed = fmt.Sprintf(prefixCondition, prefix)
	}
	for _, name := range []string{"user.json", "service-trust.json", "service.json", "nodes-trust.json", "nodes.json", "make.sh"} {
		text, err := templates.ReadFile(path.Join("policies", name))
		if err != nil {
			return nil, err
		}
		quote := jsonText
		if path.Ext(name) == ".sh" {
			quote = word
		}
		files = append(files, File{name, []byte(strings.NewReplacer(
			"@PARTITION@", partition, "@DOMAIN@", domain, "@TAG@", TagOfRun, "@MANAGED@", ManagedTag, "@IF-PREFIX@", listed,
			"@BUCKET@", g.Bucket, "@BELOW@", path.Join(g.Bucket, prefix), "@PLACE@", quote(g.place()), "@SERVICE@", quote(g.Service), "@NODES@", quote(g.Profile),
		).Replace(string(text)))})
	}
	return files, nil
}

// prefixCondition is the condition of a statement that allows to list only the keys with a prefix.
const prefixCondition = `,
      "Condition": {
        "StringLike": {
          "s3:prefix": [
            "%s/*"
          ]
        }
      }`

// jsonText returns text as it stands between the quotes of a JSON string.
func jsonText(text string) string {
	quoted, _ := json.Marshal(text) // a string never fails
	return string(quoted[1 : len(quoted)-1])
}
