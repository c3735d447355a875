package plan

// DollarsPerHour is what a cluster costs an hour, by the table of prices or its own Price.
// It is an error if the table has no such instances.
func (c Cluster) DollarsPerHour() (float64, error) {
	s, err := Where{Runner: EMR, Cluster: &c}.site(Builtin())
	if err != nil {
		return 0, err
	}
	return s.hourly, nil
}
