package plan

// Instances are the types of machine that a plan knows.
var Instances = instances
