import { Field, IsString } from '#libs/http';

/** The body of `POST /v1/session`. */
export class LoginDto {
  @Field({ required: true, about: 'The username.', example: 'demo' })
  @IsString()
  username!: string;

  @Field({ required: true, about: 'The password.', example: 'demo-secret' })
  @IsString()
  password!: string;
}
