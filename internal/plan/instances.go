package plan

import "slices"

// An Instance is a type of machine for rent.
type Instance struct {
	Name    string
	VCPU    int
	Memory  float64 // bytes
	Disk    float64 // bytes of its own disks, whose data is lost with the instance; 0: none
	Network float64 // bytes per second, sustained
	Price   float64 // dollars per hour, on demand
	ARM     bool    // requires binaries for arm64
}

const (
	gib = 1 << 30
	// gbit is one gigabit per second, in bytes.
	gbit = 1e9 / 8
)

// instances are list prices of Amazon EC2, us-east-1, Linux, on demand, as known in 2024. They
// change, and must be checked against https://aws.amazon.com/ec2/pricing/on-demand/ before
// money is spent (--price overrides them). The network rate is the baseline, not the burst.
var instances = []Instance{
	{"m5.xlarge", 4, 16 * gib, 0, 1.25 * gbit, 0.192, false},
	{"m5.4xlarge", 16, 64 * gib, 0, 5 * gbit, 0.768, false},
	{"m6g.xlarge", 4, 16 * gib, 0, 1.25 * gbit, 0.154, true},
	{"m6g.4xlarge", 16, 64 * gib, 0, 5 * gbit, 0.616, true},
	{"c6g.4xlarge", 16, 32 * gib, 0, 5 * gbit, 0.544, true},
	{"r6g.4xlarge", 16, 128 * gib, 0, 5 * gbit, 0.8064, true},
	{"r6g.16xlarge", 64, 512 * gib, 0, 25 * gbit, 3.2256, true},
	{"i3en.2xlarge", 8, 64 * gib, 2 * 2500e9, 8.4 * gbit, 0.904, false},
	{"i3en.6xlarge", 24, 192 * gib, 2 * 7500e9, 25 * gbit, 2.712, false},
	{"i3en.12xlarge", 48, 384 * gib, 4 * 7500e9, 50 * gbit, 5.424, false},
	{"i3en.24xlarge", 96, 768 * gib, 8 * 7500e9, 100 * gbit, 10.848, false},
}

// PricesOf describes source and date of the prices in the table.
const PricesOf = "list prices of Amazon EC2, us-east-1, on demand, as known in 2024: check them, or give --price"

const (
	// emrSurcharge is EMR's surcharge as a share of a machine's on-demand price, and emrMost
	// its maximum in dollars per hour, for the x86 families of the table: EMR's price list of
	// 2024.
	emrSurcharge = 0.25
	emrMost      = 0.27
	// ebsMonth is the price of a gigabyte of EBS (gp3) per month, s3Month that of a gigabyte
	// in S3 (standard) per month, and s3Put that of a thousand PUT requests, in dollars; the
	// same list.
	ebsMonth = 0.08
	s3Month  = 0.023
	s3Put    = 0.005
	// outGB is the price of transferring a gigabyte out of AWS, and natGB that of a gigabyte
	// through a NAT gateway, in dollars; a gateway endpoint for S3 is free.
	outGB = 0.09
	natGB = 0.045
	// monthHours is the number of hours that a month is charged for.
	monthHours = 730
)

// surcharge returns EMR's surcharge per hour.
func (i Instance) surcharge() float64 {
	if i.ARM {
		return i.Price * emrSurcharge
	}
	return min(i.Price*emrSurcharge, emrMost)
}

// InstanceNamed returns the type with this name; ok is false if the table has none.
func InstanceNamed(name string) (i Instance, ok bool) {
	at := slices.IndexFunc(instances, func(i Instance) bool { return i.Name == name })
	if at < 0 {
		return i, false
	}
	return instances[at], true
}
