package awsauth

// Credentials is the choice of a way to log in. A nil *Credentials, and none chosen, is anonymous.
type Credentials struct {
	AccessKey *AccessKey `json:"AWSAccessKey" title:"Access key" doc:"By an access key of a user."`
	Role      *Role      `json:"AWSIAM" title:"IAM role" doc:"By a role that is assumed, with the environment's own credentials."`
	Default   *Default   `json:"AWSDefault" title:"Environment" doc:"By what the environment offers: variables, shared files, or the role of the machine."`
	Anonymous *Anonymous `json:"AWSAnonymous" title:"Anonymous" doc:"Without credentials, for what is public."`
}

// AccessKey is a key of a user.
type AccessKey struct {
	ID     string `json:"awsAccessKeyId" title:"Access key ID" doc:"ID of the access key."`
	Secret string `json:"awsSecretAccessKey" title:"Secret access key" doc:"Secret of the access key." secret:"true"`
}

// Role is assumed by what the environment offers (STS AssumeRole).
type Role struct {
	ARN        string `json:"roleArn" title:"Role" doc:"ARN of the role to assume." example:"arn:aws:iam::123456789012:role/reader" pattern:"^arn:"`
	ExternalID string `json:"externalId,omitempty" title:"External ID" doc:"What the role's trust policy demands as sts:ExternalId."`
}

// Default is the SDK's own search.
type Default struct{}

// Anonymous sends requests unsigned.
type Anonymous struct{}
