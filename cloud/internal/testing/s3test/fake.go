package s3test

import (
	"crypto/md5"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/faults"
)

// A Fake is an S3 server in this process that supports only the requests that we send. It is
// the double of S3 in all tests; its tests compare it with moto, a complete one that needs
// Python and a second to start. Faults can be put before it.
type Fake struct {
	faults.Handler
	URL string

	mu      sync.Mutex
	buckets map[string]map[string]*object
	uploads map[string]*upload
	rules   map[string]string // lifecycle rules by bucket
	number  int               // number of uploads so far
}

type object struct {
	content []byte
	etag    string
	changed time.Time
}

// An upload is a multipart upload.
type upload struct {
	bucket, key string
	parts       map[int][]byte
}

// StartFake starts a fake with these buckets, which stops at the end of the test.
func StartFake(t testing.TB, buckets ...string) *Fake {
	t.Helper()
	f := &Fake{buckets: make(map[string]map[string]*object), uploads: make(map[string]*upload), rules: make(map[string]string)}
	for _, name := range buckets {
		f.buckets[name] = make(map[string]*object)
	}
	f.Next = http.HandlerFunc(f.serve)
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.URL = s.URL
	return f
}

// Env returns the environment of a process that uses this server as S3.
func (f *Fake) Env() []string { return append(Environ(), "AWS_ENDPOINT_URL_S3="+f.URL) }

// Keys returns the sorted keys of a bucket.
func (f *Fake) Keys(bucket string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.buckets[bucket]))
}

// Get returns the content of an object, or nil if there is none.
func (f *Fake) Get(bucket, key string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.buckets[bucket][key]; o != nil {
		return o.content
	}
	return nil
}

// Put stores an object.
func (f *Fake) Put(bucket, key string, content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(bucket, key, content)
}

// Age makes an object's modification time earlier by age.
func (f *Fake) Age(bucket, key string, age time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := *f.buckets[bucket][key]
	o.changed = o.changed.Add(-age)
	f.buckets[bucket][key] = &o
}

// Rules returns the lifecycle rules of a bucket, in the XML of the request; "": none.
func (f *Fake) Rules(bucket string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rules[bucket]
}

// Uploads returns the number of multipart uploads that are neither completed nor aborted.
func (f *Fake) Uploads() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.uploads)
}

func (f *Fake) put(bucket, key string, content []byte) *object {
	o := &object{content, fmt.Sprintf(`"%x"`, md5.Sum(content)), time.Now()}
	f.buckets[bucket][key] = o
	return o
}

// serve handles a request.
func (f *Fake) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.buckets[bucket] == nil && (r.Method != http.MethodPut || key != ""):
		faults.RefuseXML(w, http.StatusNotFound, "NoSuchBucket")
	case key == "":
		f.onBucket(w, r, bucket, body)
	default:
		f.onObject(w, r, bucket, key, body)
	}
}

// onBucket handles a request for a bucket.
func (f *Fake) onBucket(w http.ResponseWriter, r *http.Request, bucket string, body []byte) {
	q := r.URL.Query()
	switch op := r.Method; {
	case op == http.MethodPut && q.Has("lifecycle"):
		f.rules[bucket] = string(body)
	case op == http.MethodPut:
		f.buckets[bucket] = make(map[string]*object)
	case op == http.MethodHead:
	case op == http.MethodDelete:
		if len(f.buckets[bucket]) > 0 {
			faults.RefuseXML(w, http.StatusConflict, "BucketNotEmpty")
			return
		}
		delete(f.buckets, bucket)
		w.WriteHeader(http.StatusNoContent)
	case op == http.MethodGet && q.Has("location"):
		answer(w, struct {
			XMLName xml.Name `xml:"LocationConstraint"`
		}{})
	case op == http.MethodGet && q.Has("uploads"):
		f.listUploads(w, bucket, q.Get("prefix"))
	case op == http.MethodGet:
		f.list(w, bucket, q.Get("prefix"), q.Get("delimiter"), q.Get("continuation-token"), q.Get("max-keys"))
	case op == http.MethodPost:
		f.removeAll(w, bucket, body)
	default:
		faults.RefuseXML(w, http.StatusNotImplemented, "NotImplemented")
	}
}

// onObject handles a request for an object.
func (f *Fake) onObject(w http.ResponseWriter, r *http.Request, bucket, key string, body []byte) {
	q := r.URL.Query()
	switch op := r.Method; {
	case op == http.MethodGet || op == http.MethodHead:
		f.get(w, r, bucket, key)
	case op == http.MethodPut && q.Has("uploadId"):
		f.part(w, q.Get("uploadId"), q.Get("partNumber"), body)
	case op == http.MethodPut:
		f.conditionalPut(w, r, bucket, key, body)
	case op == http.MethodPost && q.Has("uploads"):
		f.number++
		id := strconv.Itoa(f.number)
		f.uploads[id] = &upload{bucket, key, make(map[int][]byte)}
		answer(w, struct {
			XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
			UploadId string
		}{UploadId: id})
	case op == http.MethodPost:
		f.complete(w, bucket, key, q.Get("uploadId"), body)
	case op == http.MethodDelete && q.Has("uploadId"):
		if f.uploads[q.Get("uploadId")] == nil {
			faults.RefuseXML(w, http.StatusNotFound, "NoSuchUpload")
			return
		}
		delete(f.uploads, q.Get("uploadId"))
		w.WriteHeader(http.StatusNoContent)
	default:
		faults.RefuseXML(w, http.StatusNotImplemented, "NotImplemented")
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(v)
}

// list handles ListObjectsV2.
func (f *Fake) list(w http.ResponseWriter, bucket, prefix, delimiter, after, most string) {
	type content struct {
		Key          string
		Size         int
		LastModified string
	}
	type common struct{ Prefix string }
	out := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []content
		CommonPrefixes        []common
	}{}
	n, err := strconv.Atoi(most)
	if err != nil {
		n = 1000
	}
	last := ""
	for _, key := range slices.Sorted(maps.Keys(f.buckets[bucket])) {
		if !strings.HasPrefix(key, prefix) || after != "" && key <= after {
			continue
		}
		if len(out.Contents)+len(out.CommonPrefixes) == n {
			out.IsTruncated, out.NextContinuationToken = true, last
			break
		}
		last = key
		if rest := key[len(prefix):]; delimiter != "" && strings.Contains(rest, delimiter) {
			p := common{prefix + rest[:strings.Index(rest, delimiter)+1]}
			if !slices.Contains(out.CommonPrefixes, p) {
				out.CommonPrefixes = append(out.CommonPrefixes, p)
			}
			continue
		}
		o := f.buckets[bucket][key]
		out.Contents = append(out.Contents, content{key, len(o.content), o.changed.UTC().Format(time.RFC3339)})
	}
	answer(w, out)
}

// listUploads handles ListMultipartUploads, with a single page.
func (f *Fake) listUploads(w http.ResponseWriter, bucket, prefix string) {
	type item struct{ Key, UploadId string }
	out := struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Upload  []item
	}{}
	for id, u := range f.uploads {
		if u.bucket == bucket && strings.HasPrefix(u.key, prefix) {
			out.Upload = append(out.Upload, item{u.key, id})
		}
	}
	answer(w, out)
}

// removeAll handles DeleteObjects.
func (f *Fake) removeAll(w http.ResponseWriter, bucket string, body []byte) {
	var in struct {
		Object []struct{ Key string }
	}
	if err := xml.Unmarshal(body, &in); err != nil {
		faults.RefuseXML(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	for _, o := range in.Object {
		delete(f.buckets[bucket], o.Key)
	}
	answer(w, struct {
		XMLName xml.Name `xml:"DeleteResult"`
	}{})
}

// get handles GetObject and HeadObject.
func (f *Fake) get(w http.ResponseWriter, r *http.Request, bucket, key string) {
	o := f.buckets[bucket][key]
	if o == nil {
		faults.RefuseXML(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	if tag := r.Header.Get("If-Match"); tag != "" && tag != o.etag {
		faults.RefuseXML(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	w.Header().Set("ETag", o.etag)
	w.Header().Set("Last-Modified", o.changed.UTC().Format(http.TimeFormat))
	content, status := o.content, http.StatusOK
	var first, last int
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); n == 2 {
		if first >= len(content) {
			faults.RefuseXML(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
			return
		}
		last = min(last, len(content)-1)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(content)))
		content, status = content[first:last+1], http.StatusPartialContent
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		w.Write(content)
	}
}

// conditionalPut handles PutObject.
func (f *Fake) conditionalPut(w http.ResponseWriter, r *http.Request, bucket, key string, body []byte) {
	o := f.buckets[bucket][key]
	switch tag := r.Header.Get("If-Match"); {
	case r.Header.Get("If-None-Match") == "*" && o != nil, tag != "" && o != nil && tag != o.etag:
		faults.RefuseXML(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case tag != "" && o == nil:
		faults.RefuseXML(w, http.StatusNotFound, "NoSuchKey")
	case r.Header.Get("Content-Encoding") == "aws-chunked": // our client never sends this over HTTP without TLS
		faults.RefuseXML(w, http.StatusNotImplemented, "NotImplemented")
	default:
		w.Header().Set("ETag", f.put(bucket, key, body).etag)
	}
}

// part handles UploadPart.
func (f *Fake) part(w http.ResponseWriter, id, number string, body []byte) {
	n, err := strconv.Atoi(number)
	if err != nil || f.uploads[id] == nil {
		faults.RefuseXML(w, http.StatusNotFound, "NoSuchUpload")
		return
	}
	f.uploads[id].parts[n] = body
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(body)))
}

// complete handles CompleteMultipartUpload.
func (f *Fake) complete(w http.ResponseWriter, bucket, key, id string, body []byte) {
	var in struct {
		Part []struct{ PartNumber int }
	}
	if err := xml.Unmarshal(body, &in); err != nil || f.uploads[id] == nil {
		faults.RefuseXML(w, http.StatusNotFound, "NoSuchUpload")
		return
	}
	var content, sums []byte
	for i, p := range in.Part {
		part, ok := f.uploads[id].parts[p.PartNumber]
		switch {
		case !ok:
			faults.RefuseXML(w, http.StatusBadRequest, "InvalidPart")
			return
		case i > 0 && p.PartNumber <= in.Part[i-1].PartNumber:
			faults.RefuseXML(w, http.StatusBadRequest, "InvalidPartOrder")
			return
		}
		sum := md5.Sum(part)
		content, sums = append(content, part...), append(sums, sum[:]...)
	}
	delete(f.uploads, id)
	o := f.put(bucket, key, content)
	o.etag = fmt.Sprintf(`"%x-%d"`, md5.Sum(sums), len(in.Part))
	answer(w, struct {
		XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
		ETag    string
	}{ETag: o.etag})
}
