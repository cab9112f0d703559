--[[ group-leave: events are handled or dead and leave; the next event of each ordering group becomes its head.
  Atomic because: a run that lost its job must not let the next event start while the run that took over handles this one.
  A repetition changes nothing and returns the head again, because the process may have been killed before it started the head.
  KEYS 1 groups · 2 pending · 3 holders · 4 positions
  ARGV 1 n · n × (workspace, group or "", position, job id, holder, origin of the position: "log" | "retried" | "backfill")
  RETURN n × ("left" | "taken-over", job id of the head of the group now or "")    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local POSITION_WIDTH = 35
local n = tonumber(ARGV[1])
local answer = {}

for i = 0, n - 1 do
  local at = 6 * i + 2
  local workspace, group, position, id, holder = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local origin = ARGV[at + 5]
  local isGiven = origin ~= 'log'
  if isGiven then position = redis.call('HGET', KEYS[4], id) or (origin == 'retried' and position or 'none') end
  local member = group .. SEP .. position .. SEP .. id
  local word = 'left'

  if group == '' then
    redis.call('ZREM', KEYS[2], workspace .. SEP .. position)
    if isGiven then redis.call('HDEL', KEYS[4], id) end
  elseif redis.call('ZSCORE', KEYS[1], member) then
    if redis.call('HGET', KEYS[3], group) == holder then
      redis.call('ZREM', KEYS[1], member)
      redis.call('ZREM', KEYS[2], workspace .. SEP .. position)
      redis.call('HDEL', KEYS[3], group)
      if isGiven then redis.call('HDEL', KEYS[4], id) end
    else
      word = 'taken-over'
    end
  end

  answer[2 * i + 1] = word
  local head = word == 'left' and group ~= ''
    and redis.call('ZRANGEBYLEX', KEYS[1], '[' .. group .. SEP, '(' .. group .. AFTER_SEP, 'LIMIT', 0, 1)[1]
  answer[2 * i + 2] = head and string.sub(head, #group + POSITION_WIDTH + 3) or ''
end
return answer
