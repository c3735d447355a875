package yarn

import (
	"fmt"
	"testing"
)

func TestAddresses(t *testing.T) {
	for name, test := range map[string]struct {
		conf map[string]string
		want addresses
	}{
		"defaults": {nil, addresses{managers: []string{"http://127.0.0.1:8088"}, history: "http://127.0.0.1:19888"}},
		"all interfaces": {map[string]string{
			"yarn.resourcemanager.webapp.address": "0.0.0.0:8089",
			"mapreduce.jobhistory.webapp.address": "[::]:5",
		}, addresses{managers: []string{"http://127.0.0.1:8089"}, history: "http://127.0.0.1:5"}},
		"hosts": {map[string]string{
			"yarn.resourcemanager.hostname":  "rm",
			"mapreduce.jobhistory.address":   "hs:10020",
			"yarn.resourcemanager.ha.rm-ids": "not,asked",
		}, addresses{managers: []string{"http://rm:8088"}, history: "http://hs:19888"}},
		"HA": {map[string]string{
			"yarn.resourcemanager.ha.enabled":         "true",
			"yarn.resourcemanager.ha.rm-ids":          "rm1, rm2",
			"yarn.resourcemanager.webapp.address.rm1": "one:1",
			"yarn.resourcemanager.hostname.rm2":       "two",
		}, addresses{managers: []string{"http://one:1", "http://two:8088"}, history: "http://127.0.0.1:19888"}},
		"https": {map[string]string{
			"yarn.http.policy":                          "HTTPS_ONLY",
			"yarn.resourcemanager.hostname":             "rm",
			"mapreduce.jobhistory.http.policy":          "HTTPS_ONLY",
			"mapreduce.jobhistory.webapp.https.address": "hs:2",
		}, addresses{managers: []string{"https://rm:8090"}, history: "https://hs:2", node: "https://"}},
	} {
		if test.want.node == "" {
			test.want.node = "http://"
		}
		if got := New("", test.conf, "").addresses; fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
