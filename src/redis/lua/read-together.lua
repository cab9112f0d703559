--[[ read-together: the answers of several commands that read one key each, in one call.
  Atomic because: it need not be; for a process, one call costs less than a hundred commands.
  KEYS n keys    ARGV for each key: command, number of its further arguments, these
  RETURN the answers; an error is the answer of its own command only    Cost that of the commands. Never calls TIME. ]]
local answers, at = {}, 1
for nth, key in ipairs(KEYS) do
  local command, count = ARGV[at], tonumber(ARGV[at + 1])
  answers[nth] = redis.pcall(command, key, unpack(ARGV, at + 2, at + 1 + count))
  at = at + 2 + count
end
return answers
