package http

// The constants of net/http.
const (
	MethodGet  = "GET"
	MethodHead = "HEAD"

	StatusOK                  = 200
	StatusSeeOther            = 303
	StatusBadRequest          = 400
	StatusNotFound            = 404
	StatusMethodNotAllowed    = 405
	StatusRequestURITooLong   = 414
	StatusMisdirectedRequest  = 421
	StatusInternalServerError = 500
	StatusServiceUnavailable  = 503
)
