// Package sweep holds source-s3 against files that are added, replaced, deleted and put with old times while it reads them: in a directory, and in the fake of
// S3. The binary is killed at every STATE and resumed, and every record of every version that is there at the end must have come exactly once. With one rule
// of the sweep broken, the same schedules have to find a fault.
package sweep
