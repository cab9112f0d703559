--[[ probe-rights: whether the user of Redis may call what scripts call. Nothing is written; Redis 6 is asked for the right to run scripts only.
  Atomic because: it is one question.
  KEYS 1 one that does not exist
  ARGV names of commands
  RETURN {"permitted"} · {"forbidden", command}
  Cost O(commands). ]]
if redis.acl_check_cmd then
  for _, command in ipairs(ARGV) do
    if not redis.acl_check_cmd(command, KEYS[1]) then
      return { 'forbidden', command }
    end
  end
end
return { 'permitted' }
