//go:build !js

// Package http is net/http, as far as the handlers of package web need it. For browsers, it has a small
// part of that with the same names: net/http would be half of the program that they load.
package http

import "net/http"

// The types of net/http.
type (
	Handler        = http.Handler
	HandlerFunc    = http.HandlerFunc
	Request        = http.Request
	ResponseWriter = http.ResponseWriter

	ResponseController = http.ResponseController
)

// The functions of net/http.
var (
	NewResponseController = http.NewResponseController
	NewServeMux           = http.NewServeMux
	ServeFileFS           = http.ServeFileFS
)

// ServeMux is that of net/http.
type ServeMux = http.ServeMux
