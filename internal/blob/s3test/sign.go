package s3test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
)

// authorization is the header of a request that is signed with version 4 of AWS's signatures:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$`)

// signature is what an Authorization header says.
type signature struct{ key, day, region, headers, sum string }

// admit looks at a request's signature. status 0: it may pass.
func (s *Server) admit(r *http.Request) (code string, status int) {
	header := r.Header.Get("Authorization")
	parts := authorization.FindStringSubmatch(header)
	switch {
	case s.Secrets == nil && parts == nil, header == "" && s.Public:
		return "", 0
	case header == "":
		return "AccessDenied", http.StatusForbidden
	case parts == nil || parts[3] != s.Region:
		return "AuthorizationHeaderMalformed", http.StatusBadRequest
	case s.Secrets == nil:
		return "", 0
	}
	given := signature{key: parts[1], day: parts[2], region: parts[3], headers: parts[4], sum: parts[5]}
	secret, known := s.Secrets[given.key]
	switch {
	case !known:
		return "InvalidAccessKeyId", http.StatusForbidden
	case s.SessionTokens[given.key] != r.Header.Get("X-Amz-Security-Token"):
		return "InvalidToken", http.StatusBadRequest
	case given.of(r, secret) != given.sum:
		return "SignatureDoesNotMatch", http.StatusForbidden
	}
	return "", 0
}

// of signs a request as it arrived.
func (g signature) of(r *http.Request, secret string) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	canonical := []string{r.Method, path, strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")}
	for name := range strings.SplitSeq(g.headers, ";") {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		canonical = append(canonical, name+":"+strings.TrimSpace(value))
	}
	canonical = append(canonical, "", g.headers, r.Header.Get("X-Amz-Content-Sha256"))
	sum := sha256.Sum256([]byte(strings.Join(canonical, "\n")))
	scope := g.day + "/" + g.region + "/s3/aws4_request"
	toSign := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + secret)
	for _, part := range []string{g.day, g.region, "s3", "aws4_request", toSign} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}
