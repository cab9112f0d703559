-- Adds what a process has counted of a day to what the workspace used, where it still has a state: of a workspace that was erased meanwhile, nothing
-- comes back.
--
-- KEYS[1] used (hash), KEYS[2] state
-- ARGV[1] how long it is kept, ms; ARGV[2…] pairs of what and how many
-- Returns 1; 0 where the workspace has no state.
if redis.call('EXISTS', KEYS[2]) == 0 then
  return 0
end
for at = 2, #ARGV, 2 do
  redis.call('HINCRBY', KEYS[1], ARGV[at], ARGV[at + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
