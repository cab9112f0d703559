/** The texts about people who are invited to the page. */
export const inviteTexts = {
  'invites.title': ['Who may sign in', '로그인할 수 있는 사람'],
  'invites.intro': [
    'People with a link of their own. Their name stands in what they do; their sessions end when they are revoked.',
    '자기 링크로 로그인하는 사람입니다. 한 일에 이름이 남고, 초대를 취소하면 로그인도 끝납니다.',
  ],
  'invites.none': ['Nobody is invited yet.', '아직 초대한 사람이 없습니다.'],
  'invites.add': ['Invite a colleague', '동료 초대'],
  'invites.name': ['Name', '이름'],
  'invites.role': ['Role', '권한'],
  'invites.until': ['Until', '기한'],
  'invites.over': ['over', '기한 지남'],
  'invites.expires': ['For how long', '얼마 동안'],
  'invites.days': ['{count} days', '{count}일'],
  'invites.once': [
    'Send this link to {name} alone. It is shown only now, and signs in until {until}.',
    '{name} 님에게만 이 링크를 보내세요. 지금 한 번만 보이며, {until}까지 로그인할 수 있습니다.',
  ],
  'invites.link': ['Link', '링크'],
  'invites.copy': ['Copy the link', '링크 복사'],
  'invites.copied': ['Copied', '복사했습니다'],
  'invites.machine': [
    'Only this machine can open it: for others, set http.host, http.tokens and http.publicUrl in the configuration.',
    '이 컴퓨터에서만 열 수 있습니다. 다른 컴퓨터에서 열려면 설정에 http.host, http.tokens, http.publicUrl을 적으세요.',
  ],
  'invites.revoke': ['Revoke', '초대 취소'],
  'invites.revokeOf': ['Revoke the invitation of {name}', '{name} 님의 초대 취소'],
  'invites.revokeAbout': [
    'The link of {name} and their sessions end within seconds.',
    '{name} 님의 링크와 로그인이 몇 초 안에 끝납니다.',
  ],
  'did.invite': ['invited', '초대'],
  'did.invite revoke': ['revoked an invitation', '초대 취소'],
} as const;
