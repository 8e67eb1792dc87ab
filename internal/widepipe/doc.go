// Package widepipe makes pipes hold more, so that their ends wait less often for each other.
package widepipe
