package plan

// DollarsPerHour returns the price of a cluster per hour, from the table or its own Price. It
// returns an error if the instance types are not in the table.
func (c Cluster) DollarsPerHour() (float64, error) {
	s, err := Where{Runner: EMR, Cluster: &c}.site(Builtin())
	if err != nil {
		return 0, err
	}
	return s.hourly, nil
}
